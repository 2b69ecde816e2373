import { AppError } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { TURNS } from "./constants.ts";
import { type Thread, thisThread } from "./thread.ts";
import { Usage } from "./usage.ts";

export interface TurnOptions {
  thread?: Thread;
  /** An account that starts no more than this is not held back. */
  leastPerSecond?: number;
  /** How much work of an account may wait; unlimited by default. */
  mostWaiting?: number;
}

/** The work of one account. */
interface Line {
  waiting: (() => void)[];
  /** How much has started in the present turn, and how much may. */
  started: number;
  starts: number;
  /** What the account's work took since its last turn, in milliseconds. */
  owedMs: number;
}

/**
 * Spreads the starts of an account's work over turns. A hundred pieces that start at once go on together, and at each step
 * another account's single piece waits for all of them. While time is scarce, an account that uses more than the average
 * starts one piece at a time, the less often the scarcer time is; alone, it may use all of it
 * (docs/decisions/0015-fair-order-between-accounts.md).
 */
export class FairTurns {
  readonly #usage: Usage;
  readonly #thread: Thread;
  readonly #mostWaiting: number;
  readonly #lines = new Map<string, Line>();

  constructor({
    thread = thisThread,
    leastPerSecond = TURNS.leastPerSecond,
    mostWaiting = Number.POSITIVE_INFINITY,
  }: TurnOptions = {}) {
    this.#thread = thread;
    this.#usage = new Usage(leastPerSecond);
    this.#mostWaiting = mostWaiting;
  }

  /** Resolves in the account's turn, after what it asked for before. Throws `rate-limited` if too much of it waits. */
  next(account: string): Promise<void> | void {
    const known = this.#lines.get(account);
    if (known && known.waiting.length >= this.#mostWaiting) {
      const message = "too many requests of this account wait for their turn";
      throw new AppError("rate-limited", message, { retryAfterMs: 1000 });
    }
    this.#usage.note(account);
    const line = known ?? this.#open(account);
    if (line.waiting.length === 0 && line.started < line.starts) {
      line.started += 1;
      return undefined;
    }
    return new Promise(resolve => line.waiting.push(resolve));
  }

  /** Notes the bytes of a body: a large one counts as many starts. */
  chargeBytes(account: string, bytes: number): void {
    this.charge(account, bytes * TURNS.msPerByte);
  }

  /** Notes that a piece of work was larger than others, by this many milliseconds of any process's time. */
  charge(account: string, ms: number): void {
    if (ms < 1) return;
    this.#usage.note(account, ms / TURNS.msPerStart);
    const line = this.#lines.get(account);
    if (line) line.owedMs += ms;
    else if (this.#mustSpread(account, ms)) this.#open(account, ms).starts = 0;
  }

  /** Begins the first turn of an account that has none, after work of `owedMs`. */
  #open(account: string, owedMs = 0): Line {
    const line = { waiting: [], started: 0, starts: 0, owedMs };
    this.#lines.set(account, line);
    this.#begin(account, line);
    return line;
  }

  #mustSpread(account: string, owedMs: number): boolean {
    return (this.#thread.pressure > 1 || owedMs >= TURNS.largeMs) && this.#usage.isHeavy(account);
  }

  #begin(account: string, line: Line): void {
    line.started = 0;
    if (this.#mustSpread(account, line.owedMs)) {
      line.starts = 1;
      const { pressure } = this.#thread;
      const ms = pressure > 1 ? (TURNS.spreadMs + line.owedMs) * pressure : line.owedMs * TURNS.largeShare;
      setTimeout(() => this.#end(account, line), Math.min(TURNS.mostPauseMs, ms));
    } else {
      line.starts = this.#usage.isAlone ? TURNS.startsAlone : TURNS.starts;
      setImmediate(() => this.#end(account, line));
    }
    line.owedMs = 0;
  }

  #end(account: string, line: Line): void {
    if (line.waiting.length === 0 && line.owedMs === 0) {
      this.#lines.delete(account);
      return;
    }
    this.#begin(account, line);
    const starts = line.waiting.splice(0, line.starts);
    line.started = starts.length;
    for (const start of starts) start();
  }
}

/**
 * The turns of requests that become work in other processes: those for sources, and those that publish events. They are spread
 * here, before they are read; every door of this process counts for the same turns.
 */
export const requestTurns = new FairTurns({ mostWaiting: LIMITS.requestsWaiting.value });
