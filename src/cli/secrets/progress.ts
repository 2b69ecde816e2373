import type { SealedCount } from "./count-sealed.ts";
import type { Tally } from "./tally.ts";

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
