import { AppError } from "./errors.ts";

export interface SlotLimits {
  /** Pieces of work at once. */
  total: number;
  /** Pieces of work of one account at once, so that another account finds a slot soon. */
  perAccount: number;
  /** Pieces of work of one account that may wait; unlimited by default. */
  waitingPerAccount?: number;
  /** Pieces of work of all accounts that may wait; unlimited by default. */
  waiting?: number;
  /** For how long a slot stays taken after work of this many milliseconds; not at all by default. Milliseconds. */
  restMs?: (workedMs: number) => number;
  /** What is rejected, for the error: `components are being saved`. */
  what: string;
}

/** The account of the command line, whose work no other account waits for. */
export const LOCAL_ACCOUNT = "local";

interface Account {
  running: number;
  waiting: (() => void)[];
  /** When a slot was last given to the account, as a running number. */
  servedAt: number;
}

const RETRY_MS = 5000;

/**
 * Slots for heavy work of this process. While work waits, the next slot goes to the account that uses the fewest, and
 * among equals to the one that was served the longest time ago.
 */
export class FairSlots {
  readonly #limits: SlotLimits;
  readonly #accounts = new Map<string, Account>();
  #running = 0;
  #waiting = 0;
  #served = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /**
   * Runs `work` in a slot. Throws AppError `rate-limited` if too much work of the account waits, `unavailable` if too
   * much work of all accounts does, and what `work` throws.
   */
  async run<T>(account: string, work: () => Promise<T>): Promise<T> {
    const waiting = this.#acquire(account);
    if (waiting) await waiting;
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      this.#rest(account, performance.now() - startedAt);
    }
  }

  /** Returns what to wait for; undefined if the slot is free now. */
  #acquire(name: string): Promise<void> | undefined {
    const {
      waitingPerAccount = Number.POSITIVE_INFINITY,
      waiting = Number.POSITIVE_INFINITY,
      what,
    } = this.#limits;
    const account = this.#accounts.get(name) ?? { running: 0, waiting: [], servedAt: 0 };
    if (this.#isFree(account)) {
      this.#accounts.set(name, account);
      this.#claim(account);
      return undefined;
    }
    if (account.waiting.length >= waitingPerAccount) {
      throw new AppError("rate-limited", `too many ${what} for this account`, { retryAfterMs: RETRY_MS });
    }
    if (this.#waiting >= waiting) {
      throw new AppError("unavailable", `too many ${what}`, { retryAfterMs: RETRY_MS });
    }
    this.#accounts.set(name, account);
    this.#waiting += 1;
    return new Promise(resolve => account.waiting.push(resolve));
  }

  #isFree(account: Account): boolean {
    return this.#running < this.#limits.total && account.running < this.#limits.perAccount;
  }

  #claim(account: Account): void {
    this.#running += 1;
    this.#served += 1;
    account.running += 1;
    account.servedAt = this.#served;
  }

  #rest(name: string, workedMs: number): void {
    const restMs = this.#limits.restMs?.(workedMs) ?? 0;
    if (restMs > 0) setTimeout(() => this.#release(name), restMs).unref();
    else this.#release(name);
  }

  #release(name: string): void {
    const account = this.#accounts.get(name);
    if (!account) return;
    this.#running -= 1;
    account.running -= 1;
    const next = [...this.#accounts.values()]
      .filter(other => other.waiting.length > 0 && this.#isFree(other))
      .sort((a, b) => a.running - b.running || a.servedAt - b.servedAt)[0];
    if (next) {
      this.#waiting -= 1;
      this.#claim(next);
      next.waiting.shift()?.();
    }
    if (account.running === 0 && account.waiting.length === 0) this.#accounts.delete(name);
  }
}
