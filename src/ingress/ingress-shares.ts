import { LARGE_BODIES } from "../fairness/constants.ts";
import { Slots } from "../fairness/slots.ts";
import { Usage } from "../fairness/usage.ts";
import { LIMITS } from "../limits/catalogue.ts";

/** What requests for sources hold of this process at a time (docs/limits.md). */
export class IngressShares {
  /** Those whose body is being read, or that wait for the component's response. */
  readonly requests = new Slots({
    perAccount: LIMITS.requestsInProgress.value,
    what: "requests in progress at endpoints",
  });
  /** What has arrived of their bodies, until their runs wait. */
  readonly bytes = new Slots({
    perAccount: LIMITS.ingressBytesOfAccount.value,
    total: LIMITS.ingressBytes.value,
    what: "bytes of request bodies",
  });
  /**
   * The turns of large bodies. To parse and store one takes the thread that all requests share tens of milliseconds, so one
   * account has one such body in work at a time, and leaves most of the thread to others as long as there are any
   * (docs/decisions/0015-fair-order-between-accounts.md).
   */
  readonly #largeBodies = new Slots({
    total: LIMITS.largeBodies.value,
    perAccount: 1,
    waitingPerAccount: LIMITS.largeBodiesWaiting.value,
    waiting: LIMITS.largeBodiesWaitingInAll.value,
    restMs: workedMs =>
      this.#usage.isAlone ? 0 : Math.min(LARGE_BODIES.mostRestMs, workedMs * LARGE_BODIES.restFactor),
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
  handleBody<T>(account: string, bytes: number, work: () => Promise<T>): Promise<T> {
    return bytes > LIMITS.largeBodyBytes.value ? this.#largeBodies.run(account, work) : work();
  }
}
