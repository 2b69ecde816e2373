import { type Thread, thisThread } from "./busy-thread.ts";
import { Company } from "./company.ts";

/** How many pieces of work of one account start in a turn of the event loop. */
const STARTS_PER_TURN = 4;
/** How long a turn is while the thread is busy and several accounts have work, and how many start in it. */
const BUSY_TURN_MS = 10;
const STARTS_PER_BUSY_TURN = 1;

/**
 * Spreads the starts of an account's work over turns. A hundred pieces that start at once go on together, and at each step
 * another account's single piece waits for all of them. While several accounts have work, much work of one leaves some of
 * the thread's time free for what comes; alone, it may use all of it
 * (docs/decisions/0015-fair-order-between-accounts.md).
 */
export class FairTurns {
  readonly #company = new Company();
  readonly #thread: Thread;
  readonly #waiting = new Map<string, (() => void)[]>();
  /** How much work of each account has started in this turn. */
  readonly #started = new Map<string, number>();
  #isTurn = false;
  #startsPerTurn = STARTS_PER_TURN;

  constructor(thread: Thread = thisThread) {
    this.#thread = thread;
  }

  /** Resolves in the account's turn, after what it asked for before. */
  next(account: string): Promise<void> | void {
    this.#company.note(account);
    const started = this.#started.get(account) ?? 0;
    if (!this.#isTurn) this.#begin();
    if (started < this.#startsPerTurn) {
      this.#started.set(account, started + 1);
      return undefined;
    }
    return new Promise(resolve => {
      const waiting = this.#waiting.get(account);
      if (waiting) waiting.push(resolve);
      else this.#waiting.set(account, [resolve]);
    });
  }

  #begin(): void {
    this.#isTurn = true;
    const mustSpread = !this.#company.isOne && this.#thread.isBusy;
    this.#startsPerTurn = mustSpread ? STARTS_PER_BUSY_TURN : STARTS_PER_TURN;
    if (mustSpread) setTimeout(() => this.#end(), BUSY_TURN_MS);
    else setImmediate(() => this.#end());
  }

  #end(): void {
    this.#isTurn = false;
    this.#started.clear();
    if (this.#waiting.size === 0) return;
    this.#begin();
    for (const [account, waiting] of this.#waiting) {
      const starts = waiting.splice(0, this.#startsPerTurn);
      this.#started.set(account, starts.length);
      if (waiting.length === 0) this.#waiting.delete(account);
      for (const start of starts) start();
    }
  }
}
