import type { Resealed, SealedCount, Tally } from "./reseal.ts";

const grouped = (count: number) => count.toLocaleString("en-US");

/** Returns what `--dry-run` prints. */
export function linesOfCounts(counts: SealedCount[]): string[] {
  const total = counts.reduce((sum, { due }) => sum + due, 0);
  return [
    ...counts.map(({ place, due, unreadable }) => {
      const line = `${place}: ${grouped(due)} to encrypt again`;
      return unreadable === 0
        ? line
        : `${line}, ${grouped(unreadable)} encrypted with a key that SECRETS_KEY lacks`;
    }),
    total === 0 ? "nothing to encrypt again" : `${grouped(total)} to encrypt again; nothing was changed`,
  ];
}

/** Returns what is printed in the end; the last line says whether the other keys can be removed. */
export function linesOfResealed({ places, left }: Resealed, keys: number): string[] {
  return [
    ...places.map(({ place, resealed }) => `${place}: ${grouped(resealed)} encrypted again`),
    ...places.filter(({ unreadable }) => unreadable > 0).map(unreadableLine),
    left === 0 ? endOf(keys) : unfinished(left),
  ];
}

function unreadableLine({ place, unreadable, ids }: Resealed["places"][number]): string {
  const more = unreadable > ids.length ? ", …" : "";
  return `${place}: ${grouped(unreadable)} encrypted with a key that SECRETS_KEY lacks, and left as they are: ${ids.join(", ")}${more}`;
}

const unfinished = (left: number) =>
  `NOT done: ${grouped(left)} were encrypted with another key while this ran. Keep every key, restart the processes that do ` +
  "not have this SECRETS_KEY yet, and run this again";

function endOf(keys: number): string {
  if (keys === 1) return "done: nothing needs a key other than the one in SECRETS_KEY";
  const others = keys === 2 ? "the old key" : `the ${keys - 1} old keys`;
  return `done: nothing needs a key other than the first, so ${others} can be removed from SECRETS_KEY`;
}

/** Between two lines: on a terminal, where one replaces the other, and in a log. */
const TERMINAL_MS = 200;
const LOG_MS = 5000;

/** Shows on stderr how far it is, not too often. */
export function progressLine(counts: SealedCount[]): { show(tally: Tally): void; end(): void } {
  const isTerminal = process.stderr.isTTY === true;
  const totals = new Map(counts.map(({ place, due, unreadable }) => [place, due + unreadable]));
  let shownMs = performance.now();
  let isOpen = false;
  return {
    show({ place, resealed, busy, unreadable }) {
      if (performance.now() - shownMs < (isTerminal ? TERMINAL_MS : LOG_MS)) return;
      shownMs = performance.now();
      const done = (resealed + busy + unreadable).toLocaleString("en-US");
      const line = `${place}: ${done} of ${(totals.get(place) ?? 0).toLocaleString("en-US")}`;
      process.stderr.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
      isOpen = isTerminal;
    },
    end() {
      if (isOpen) process.stderr.write("\r\x1b[K");
      isOpen = false;
    },
  };
}
