import type { Queued } from "../platform.ts";
import type { Acked } from "../store/runs/run-queue.ts";
import { LeaseLost } from "./record.ts";

/** Renews a source's lease while its runs are executed, and aborts them when the lease or the job's lock is lost. */
export class Lease {
  readonly #timer: NodeJS.Timeout;
  readonly #job: AbortSignal;
  #batch = new AbortController();
  #lost: unknown;

  /** `job` is the job's own signal; `leaseMs` the milliseconds until an unrenewed lease expires. */
  constructor(platform: Queued, sourceId: string, token: string, leaseMs: number, job: AbortSignal) {
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

/** The runs of a source that this process has claimed, and how many of them are left. */
export class Claim {
  readonly token: string;
  /** True if they were left by an earlier holder of the lease, which may have recorded them. */
  readonly isLeftOver: boolean;
  /** True if runs of the source are settled, whose records may not be stored yet. */
  readonly hasSettled: boolean;
  #left: number;
  #acked: { left: number; result: Acked } | undefined;

  constructor(token: string, claimed: { claimed: number; crashes: number; settled: number }) {
    this.token = token;
    this.#left = claimed.claimed;
    this.isLeftOver = claimed.crashes > 0;
    this.hasSettled = claimed.settled > 0;
  }

  /** How many are left once the first `done` of those that are left now are done. */
  leftAfter(done: number): number {
    return this.#left - done;
  }

  /** Notes that the queue knows that so many are left. */
  noteAcked(left: number, result: Acked): void {
    this.#acked = { left, result };
  }

  /** Notes that the first `done` are done; returns the result of their acknowledgement, if the queue knows already. */
  advance(done: number): Acked | undefined {
    this.#left -= done;
    return this.#acked?.left === this.#left ? this.#acked.result : undefined;
  }

  get left(): number {
    return this.#left;
  }
}
