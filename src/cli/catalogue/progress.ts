import { note, timeOf } from "../output.ts";
import type { Outcome } from "./outcome.ts";
import { countResults } from "./report.ts";
import { countStops } from "./stop.ts";

const LINE_EVERY_MS = 10_000;
const TO_LINE_START = "\r\u001b[2K";

/** A line on the standard error that says how far an examination is; without a terminal, another one each 10 s. */
export class Progress {
  readonly #total: number;
  readonly #isTerminal = process.stderr.isTTY === true;
  #saidAt = performance.now();

  readonly #hasStops: boolean;

  constructor(total: number, hasStops: boolean) {
    this.#total = total;
    this.#hasStops = hasStops;
  }

  show(outcomes: readonly Outcome[]): void {
    const { described, deployed, ran } = countResults(outcomes);
    const counts = `${described.ok} described, ${deployed.ok} deployed, ${ran.ok} ran`;
    const stops = this.#hasStops ? `, ${countStops(outcomes).network} stopped at the network` : "";
    this.#say(`${outcomes.length} of ${this.#total}: ${counts}${stops}`);
  }

  waits(untilMs: number, why: string): void {
    this.#say(`until ${timeOf(untilMs)}: ${why}`);
  }

  /** Removes the line of a terminal, for what is printed next. */
  end(): void {
    if (this.#isTerminal) process.stderr.write(TO_LINE_START);
  }

  #say(text: string): void {
    if (this.#isTerminal) return void process.stderr.write(TO_LINE_START + text);
    if (performance.now() - this.#saidAt < LINE_EVERY_MS) return;
    this.#saidAt = performance.now();
    note(text);
  }
}
