import { AppError } from "../lib/errors.ts";
import { FairTurns } from "../lib/fair-turns.ts";
import { LIMITS } from "./catalogue.ts";

const RETRY_AFTER_MS = 1000;
/** What a byte that is read or sent costs all processes that pass it on: some 100 ms for a megabyte. */
const MS_PER_BYTE = 100 / 1024 / 1024;

/**
 * The turns of requests that become work in other processes: those for sources, and those that publish events. What one
 * account sends is spread here, before it is read, while the processor is scarce and other accounts send requests, too
 * (docs/decisions/0015-fair-order-between-accounts.md).
 */
export class RequestTurns {
  readonly #turns: FairTurns;

  constructor(turns = new FairTurns()) {
    this.#turns = turns;
  }

  /** Resolves in the account's turn. Throws `rate-limited` if too many of its requests wait. */
  next(account: string): Promise<void> | void {
    if (this.#turns.waitingOf(account) >= LIMITS.requestsWaiting.value) {
      const message = "too many requests of this account wait for their turn";
      throw new AppError("rate-limited", message, { retryAfterMs: RETRY_AFTER_MS });
    }
    return this.#turns.next(account);
  }

  /** Notes the bytes of a body: a large one counts as many requests. */
  chargeBytes(account: string, bytes: number): void {
    this.charge(account, bytes * MS_PER_BYTE);
  }

  /** Notes what a request costs besides, in milliseconds of anybody's time. */
  charge(account: string, ms: number): void {
    if (ms >= 1) this.#turns.charge(account, ms);
  }
}

/** Those of this process: every door counts for the same turns. */
export const requestTurns = new RequestTurns();
