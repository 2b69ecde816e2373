import type { Acked } from "../store/run-queue.ts";

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
