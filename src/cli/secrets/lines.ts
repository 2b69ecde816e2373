import type { SealedCount } from "./count-sealed.ts";
import type { Resealed } from "./reseal.ts";

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
