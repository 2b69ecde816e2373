import { Usage } from "../fairness/usage.ts";
import { FairSlots } from "../lib/fair-slots.ts";
import { LIMITS } from "../limits/catalogue.ts";

/** How many times as long as its work an account's turn rests, while requests of other accounts arrive. */
const REST_FACTOR = 10;
const MAX_REST_MS = 2000;

/**
 * The turns of large bodies. To parse and store one takes the thread that all requests share tens of milliseconds, so one
 * account has one such body in work at a time, and leaves most of the thread to others as long as there are any
 * (docs/decisions/0015-fair-order-between-accounts.md).
 */
export class LargeBodies {
  readonly #turns = new FairSlots({
    total: LIMITS.largeBodies.value,
    perAccount: 1,
    waitingPerAccount: LIMITS.largeBodiesWaiting.value,
    waiting: LIMITS.largeBodiesWaitingInAll.value,
    restMs: workedMs => (this.#usage.isAlone ? 0 : Math.min(MAX_REST_MS, workedMs * REST_FACTOR)),
    what: "large bodies wait",
  });
  readonly #usage = new Usage();

  /** Notes that a request of an account has arrived, of any size. */
  note(account: string): void {
    this.#usage.note(account);
  }

  /**
   * Does `work` for a body of this size, in the account's turn if it is a large one. Throws `rate-limited` if too many
   * large bodies of the account wait, `unavailable` if too many of all accounts do, and what `work` throws.
   */
  run<T>(account: string, bytes: number, work: () => Promise<T>): Promise<T> {
    return bytes > LIMITS.largeBodyBytes.value ? this.#turns.run(account, work) : work();
  }
}
