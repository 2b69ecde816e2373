import { type Thread, thisThread } from "./busy-thread.ts";
import { Company } from "./company.ts";

/** How many pieces of work of one account start in a turn of the event loop. */
const STARTS_PER_TURN = 4;
/** As many while no other account has work: more at once make larger batches, and fewer round trips to the stores. */
const STARTS_ALONE = 64;
/** How long after another a piece of work of a heavy account starts, times the pressure on the thread. Milliseconds. */
const SPREAD_MS = 5;
const MAX_SPREAD_MS = 4000;
/**
 * What an account may start in each second in any case: the processor may be scarce for other reasons, and then no account
 * should get less and less.
 */
const LEAST_PER_SECOND = 50;
/** After work of this many milliseconds a heavy account's next piece waits, even while time is not scarce: this share of it. */
const LARGE_MS = 20;
const LARGE_SHARE = 0.2;
/** How many milliseconds of work count as much as a start. */
const MS_PER_START = 10;

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
  readonly #company: Company;
  readonly #thread: Thread;
  readonly #lines = new Map<string, Line>();

  /** `leastPerSecond`: an account that starts no more than this is not held back. */
  constructor(thread: Thread = thisThread, leastPerSecond = LEAST_PER_SECOND) {
    this.#thread = thread;
    this.#company = new Company(leastPerSecond);
  }

  /** Resolves in the account's turn, after what it asked for before. */
  next(account: string): Promise<void> | void {
    this.#company.note(account);
    const line = this.#lines.get(account) ?? this.#open(account);
    if (line.waiting.length === 0 && line.started < line.starts) {
      line.started += 1;
      return undefined;
    }
    return new Promise(resolve => line.waiting.push(resolve));
  }

  /** How much work of the account waits. */
  waitingOf(account: string): number {
    return this.#lines.get(account)?.waiting.length ?? 0;
  }

  /** Notes that a piece of work was larger than others, by so many milliseconds of anybody's time. */
  charge(account: string, ms: number): void {
    this.#company.note(account, ms / MS_PER_START);
    const line = this.#lines.get(account);
    if (line) line.owedMs += ms;
    else if (this.#mustSpread(account, ms)) this.#open(account, ms).starts = 0;
  }

  /** Begins the first turn of an account that has none, after work of so many milliseconds. */
  #open(account: string, owedMs = 0): Line {
    const line = { waiting: [], started: 0, starts: 0, owedMs };
    this.#lines.set(account, line);
    this.#begin(account, line);
    return line;
  }

  #mustSpread(account: string, owedMs: number): boolean {
    return (this.#thread.pressure > 1 || owedMs >= LARGE_MS) && this.#company.isHeavy(account);
  }

  #begin(account: string, line: Line): void {
    line.started = 0;
    if (this.#mustSpread(account, line.owedMs)) {
      line.starts = 1;
      const { pressure } = this.#thread;
      const ms = pressure > 1 ? (SPREAD_MS + line.owedMs) * pressure : line.owedMs * LARGE_SHARE;
      setTimeout(() => this.#end(account, line), Math.min(MAX_SPREAD_MS, ms));
    } else {
      line.starts = this.#company.isOne ? STARTS_ALONE : STARTS_PER_TURN;
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
