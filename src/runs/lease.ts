import type { Platform } from "../platform.ts";
import { LeaseLost } from "./record.ts";

/** Renews a source's lease while its runs are executed, and aborts them when the lease or the job's lock is lost. */
export class Lease {
  readonly #timer: NodeJS.Timeout;
  readonly #job: AbortSignal;
  #batch = new AbortController();
  #lost: unknown;

  /** `job` is the job's own signal; `leaseMs` the milliseconds until an unrenewed lease expires. */
  constructor(
    platform: Pick<Platform, "runQueue">,
    sourceId: string,
    token: string,
    leaseMs: number,
    job: AbortSignal,
  ) {
    this.#job = job;
    job.addEventListener("abort", this.#onJobAborted);
    const renew = () =>
      platform.runQueue.renew(sourceId, token, leaseMs).then(
        isHeld => {
          if (!isHeld) this.#abort(new LeaseLost(sourceId));
        },
        // Redis is away: the version of the source's memory protects against writing after the lease is lost.
        () => undefined,
      );
    this.#timer = setInterval(() => void renew(), Math.floor(leaseMs / 3));
  }

  /** Returns a signal for one batch of runs. Listeners on one that lives as long as the lease would pile up. */
  nextSignal(): AbortSignal {
    this.#batch = new AbortController();
    if (this.#lost !== undefined) this.#batch.abort(this.#lost);
    return this.#batch.signal;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#job.removeEventListener("abort", this.#onJobAborted);
  }

  readonly #onJobAborted = () => this.#abort(this.#job.reason);

  #abort(reason: unknown): void {
    this.#lost ??= reason;
    this.#batch.abort(this.#lost);
  }
}
