import { type Job, WaitingError } from "bullmq";
import { SlotShares } from "../fairness/slot-shares.ts";
import { FairTurns } from "../fairness/turns.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { accountIn, type QueueDeclaration } from "./define-queue.ts";
import { type Charge, FairOrder, FIRST_LATER_PRIORITY, PRIORITY_WHEN_DUE } from "./fair-order.ts";
import type { StoredJobs } from "./stored-jobs.ts";

/** Starts the jobs of a queue in the turns of their accounts, each in one of the slots that its account may use. */
export class FairStart {
  readonly #queue: string;
  readonly #stored: StoredJobs;
  readonly #metrics: Metrics;
  readonly #order: FairOrder;
  readonly #slots: SlotShares;
  readonly #turns = new FairTurns();
  #isClosed = false;

  /** `slots`: how many jobs may be started at once. */
  constructor(
    { name, waitsForStoresOnly }: Pick<QueueDeclaration, "name" | "waitsForStoresOnly">,
    quantum: number,
    slots: number,
    { stored, metrics }: { stored: StoredJobs; metrics: Metrics },
  ) {
    this.#queue = name;
    this.#stored = stored;
    this.#metrics = metrics;
    this.#order = new FairOrder(stored, quantum);
    this.#slots = new SlotShares(slots, accounts => stored.pullOther(accounts), {
      ...(waitsForStoresOnly && { usedMs: () => performance.now() }),
    });
  }

  /** `shards`: over how many queues the work of this process is divided. */
  resize(slots: number, shards: number): void {
    this.#slots.resize(slots, shards);
  }

  /** Sends all that wait for a slot back to the queue. */
  close(): void {
    this.#isClosed = true;
    this.#slots.close();
  }

  /** Gives a job that is about to be delayed no priority: what its turn is shows when it is due, by the backlogs of then. */
  async leaveTurn(job: Job): Promise<void> {
    await this.#stored.setPriority(job.id ?? "", PRIORITY_WHEN_DUE);
  }

  /** Does `work` in a slot of the account. Requeues a job whose turn it is not, and throws WaitingError. */
  async inSlot(
    job: Job,
    token: string | undefined,
    charge: Charge,
    work: () => Promise<void>,
  ): Promise<void> {
    const { account, cost } = charge;
    if (!isCharged(job)) {
      const [priority = 0] = await this.#order.prioritiesOf([charge], { isFetched: true });
      if (priority > 0) await this.#requeue(job, token, "turn", priority);
    }
    if (!(await this.#slots.acquire(account, cost))) {
      if (this.#isClosed) await this.#requeue(job, token, "share", job.priority);
      // Behind what its account has waiting, free of charge, and never in front of those whose turn it is.
      const [priority = 0] = await this.#order.prioritiesOf([{ account, cost: 0 }]);
      await this.#requeue(job, token, "share", Math.max(priority, FIRST_LATER_PRIORITY));
    }
    await this.#turns.next(account);
    try {
      await work();
    } finally {
      this.#slots.release(account, cost);
    }
  }

  async #requeue(
    job: Job,
    token: string | undefined,
    reason: "turn" | "share",
    priority: number,
  ): Promise<never> {
    await this.#stored.requeue({ id: job.id ?? "", token: token ?? "", priority });
    this.#metrics.count("jobs_requeued_total", { queue: this.#queue, reason });
    throw new WaitingError();
  }
}

/** False for a job that was delayed until now, or was enqueued without the platform's own producers. */
function isCharged({ priority, opts }: Job): boolean {
  if (priority > 0) return priority !== PRIORITY_WHEN_DUE;
  return accountIn(opts) !== undefined;
}
