import { AppError } from "./errors.ts";

export interface ShareLimits {
  /** What one account may hold at a time. */
  perAccount: number;
  /** What all accounts may hold together; unlimited by default. */
  total?: number;
  /** What is held, for the error: `bytes of request bodies`. */
  what: string;
}

const RETRY = { retryAfterMs: 1000 };

/** What accounts hold of something in this process at a time, such as bytes of request bodies. */
export class Shares {
  readonly #limits: ShareLimits;
  readonly #ofAccounts = new Map<string, number>();
  #held = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /**
   * Counts an amount for an account until it is released. Throws AppError `rate-limited` if the account would hold too
   * much, `unavailable` if all accounts would; then nothing is counted.
   */
  hold(account: string, amount: number): void {
    const { perAccount, total = Number.POSITIVE_INFINITY, what } = this.#limits;
    const ofAccount = (this.#ofAccounts.get(account) ?? 0) + amount;
    if (ofAccount > perAccount) {
      throw new AppError("rate-limited", `too many ${what} of this account at once`, RETRY);
    }
    if (this.#held + amount > total) throw new AppError("unavailable", `too many ${what} at once`, RETRY);
    this.#held += amount;
    this.#ofAccounts.set(account, ofAccount);
  }

  /** Counts an amount no longer that `hold` has counted. */
  release(account: string, amount: number): void {
    const left = (this.#ofAccounts.get(account) ?? 0) - amount;
    this.#held -= amount;
    if (left > 0) this.#ofAccounts.set(account, left);
    else this.#ofAccounts.delete(account);
  }
}
