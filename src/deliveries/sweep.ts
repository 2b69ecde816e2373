import { groupBy } from "../lib/group-by.ts";
import { ofPart, type Part } from "../lib/part.ts";
import { Deliveries, type Delivery } from "../models/delivery.ts";
import { Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { enqueueAll, jobStates } from "../queues/define-queue.ts";
import {
  type Drain,
  deliveries,
  type NextAttempt,
  nextAttemptJobId,
  nextAttemptOf,
} from "../queues/deliveries.ts";
import { enqueueDrain } from "../queues/enqueue-drain.ts";
import { type FairBatch, type OfAccounts, openFairBatches } from "../store/fair-batches.ts";
import { putOffTo } from "../store/put-off.ts";
import { repairAll } from "../store/repair-each.ts";
import type { SweepBatch, Swept } from "../store/sweep-turns.ts";
import { waitsWithoutJob } from "./attempt/far-retry.ts";
import { findLostJobs, LOST_AFTER_MS } from "./find-lost-jobs.ts";
import {
  acquireForOverdue,
  releasePermits,
  unlimited,
  type WebhookLimits,
  waitlistEntry,
} from "./limits/permits.ts";

type Deps = Pick<Platform, "mongo" | "redis" | "keys" | "queues" | "permits" | "config" | "clock" | "log">;
type Overdue = Pick<
  Delivery,
  "_id" | "webhook_id" | "owner_id" | "generation" | "next_attempt_at_ms" | "sweep_at_ms"
>;

const BATCH = 500;

/**
 * Enqueues every pending delivery that is due and has no job: a far retry, or one that is overdue, because it was stored and
 * never enqueued, or its job was lost with Redis (docs/design.md#guarantee-2); only those count as repaired. One that finds
 * no permit joins its webhook's waitlist instead, so that Redis holds no more than those may. A delivery that waits at its
 * webhook, on the waitlist, to fit on it, or for its turn in an order, has no job: its webhook is drained instead, once a
 * turn. Each batch is put off, ever longer with the delivery's age, so the index itself says where the next one begins.
 */
export function beginDeliverySweep(platform: Deps, part: Part): SweepBatch {
  const sweep = new DeliverySweep(platform, part);
  return () => sweep.next();
}

class DeliverySweep {
  readonly #platform: Deps;
  /** Which deliveries are its part of all; part of a query. */
  readonly #ids: object;
  /** Fixed: a delivery that becomes due again while the turn lasts belongs to the next turn. */
  readonly #nowMs: number;
  /** Webhooks that were drained in this turn, with the reason. */
  readonly #drained = new Set<string>();
  readonly #nextBatch: () => Promise<FairBatch<Overdue>>;

  constructor(platform: Deps, part: Part) {
    this.#platform = platform;
    this.#ids = part.of === 1 ? {} : { _id: ofPart(part) };
    this.#nowMs = platform.clock();
    this.#nextBatch = openFairBatches(BATCH, (which, size) => this.#find(which, size));
  }

  async next(): Promise<Swept> {
    const { items: overdue, isLast } = await this.#nextBatch();
    if (overdue.length === 0) return { repaired: 0, next: null };
    const repaired = await repairAll(this.#platform, overdue, {
      step: "deliveries",
      idOf: ({ _id }) => _id,
      repair: some => this.#enqueueDue(some),
    });
    const moved = await this.#postpone(overdue);
    // Without progress the next batch would be this one again.
    return { repaired, next: isLast || moved === 0 ? null : "more" };
  }

  async #find(which: OfAccounts, size: number): Promise<Overdue[]> {
    return await Deliveries(this.#platform.mongo)
      .find(
        { state: "pending", sweep_at_ms: { $lte: this.#nowMs }, ...this.#ids, ...which },
        { webhook_id: 1, owner_id: 1, generation: 1, next_attempt_at_ms: 1, sweep_at_ms: 1 },
      )
      .sort({ sweep_at_ms: 1 })
      .limit(size)
      .lean<Overdue[]>();
  }

  /** Returns how many of them were lost. */
  async #enqueueDue(overdue: Overdue[]): Promise<number> {
    const webhooks = await this.#activeWebhooks(overdue);
    const isOrdered = ({ webhook_id }: Overdue) => webhooks.get(webhook_id)?.ordered === true;
    for (const delivery of overdue.filter(isOrdered)) await this.#drain(delivery, "order");
    const alone = overdue.filter(delivery => !isOrdered(delivery));
    const states = await this.#jobStates(alone, 0);
    const absent = await this.#withoutWaiting(alone.filter((_, index) => states[index] === "absent"));
    // A failed job is kept for an operator to see and would swallow an `add` of its id: a new generation has another id.
    const renewed = await this.#nextGeneration(alone.filter((_, index) => states[index] === "finished"));
    const byWebhook = [...groupBy([...absent, ...renewed], ({ webhook_id }) => webhook_id)];
    const results = await Promise.all(
      byWebhook.map(([_id, due]) =>
        this.#acquire(webhooks.get(_id) ?? unlimited({ _id, owner_id: due[0]?.owner_id }), due),
      ),
    );
    await this.#enqueue(
      results.flatMap(({ acquired }) => acquired),
      webhooks,
    );
    const underWay = new Set(results.flatMap(result => result.underWay));
    const lost = [...absent.filter(delivery => !waitsWithoutJob(delivery)), ...renewed];
    return lost.filter(({ _id }) => !underWay.has(_id)).length;
  }

  /**
   * Acquires permits for deliveries of one webhook; returns the jobs that have them. Some may be held already: by a job that was
   * enqueued since the jobs were looked up, which is looked at again soon, or by one that was lost, which goes on here.
   */
  async #acquire(
    webhook: WebhookLimits,
    due: Overdue[],
  ): Promise<{ acquired: NextAttempt[]; underWay: string[] }> {
    const jobs = due.map(nextAttemptOf);
    const { acquired, holders } = await acquireForOverdue(this.#platform, webhook, jobs);
    const lost = await findLostJobs(this.#platform, holders, this.#nowMs);
    const underWay = holders
      .filter(({ job }) => !lost.includes(job))
      .map(({ job: { delivery_id } }) => delivery_id);
    if (underWay.length > 0) {
      await Deliveries(this.#platform.mongo).updateMany(
        { _id: { $in: underWay }, state: "pending", sweep_at_ms: { $lte: this.#nowMs } },
        { $set: { sweep_at_ms: this.#nowMs + LOST_AFTER_MS } },
        { hint: { _id: 1 } },
      );
    }
    return { acquired: [...acquired, ...lost], underWay };
  }

  /** Enqueues jobs that have their permits; gives these back if that fails, because they would count as jobs under way. */
  async #enqueue(jobs: NextAttempt[], webhooks: Map<string, WebhookLimits>): Promise<void> {
    try {
      await enqueueAll(this.#platform.queues, deliveries.jobs["next-attempt"], jobs);
    } catch (error) {
      for (const [_id, ofWebhook] of groupBy(jobs, ({ webhook_id }) => webhook_id)) {
        const names = ofWebhook.map(nextAttemptJobId);
        // If they can't be given back, they expire.
        const webhook = webhooks.get(_id) ?? unlimited({ _id, owner_id: ofWebhook[0]?.account_id });
        await releasePermits(this.#platform, webhook, names).catch(() => undefined);
      }
      throw error;
    }
  }

  /** The limits of those that are not disabled or deleted. */
  async #activeWebhooks(overdue: Overdue[]): Promise<Map<string, WebhookLimits>> {
    const ids = [...new Set(overdue.map(({ webhook_id }) => webhook_id))];
    const found = await Webhooks(this.#platform.mongo)
      .find(
        { _id: { $in: ids }, active: true },
        { owner_id: 1, kind: 1, ordered: 1, failing_since_ms: 1, max_in_flight: 1, rate_limit_per_second: 1 },
      )
      .lean<WebhookLimits[]>();
    return new Map(found.map(webhook => [webhook._id, webhook]));
  }

  #jobStates(overdue: Overdue[], ahead: number) {
    const ids = overdue.map(delivery =>
      nextAttemptJobId(nextAttemptOf({ ...delivery, generation: delivery.generation + ahead })),
    );
    return jobStates(this.#platform, deliveries, ids);
  }

  /**
   * Leaves out deliveries that did not fit on a waitlist, and those on a waitlist, or granted a permit from there: they go
   * on under the next generation (src/deliveries/limits/permits.ts). Their webhook is drained, in case nothing else does.
   */
  async #withoutWaiting(overdue: Overdue[]): Promise<Overdue[]> {
    const { redis, keys } = this.#platform;
    const [states, arrivals] = await Promise.all([
      this.#jobStates(overdue, 1),
      Promise.all(
        overdue.map(delivery => {
          const waiting = nextAttemptOf({ ...delivery, generation: delivery.generation + 1 });
          return redis.zscore(keys.webhookWaitlist(delivery.webhook_id), waitlistEntry(waiting));
        }),
      ),
    ]);
    const overflowing = await this.#overflowing(overdue.filter((_, i) => states[i] === "absent"));
    const lost: Overdue[] = [];
    for (const [i, delivery] of overdue.entries()) {
      if (arrivals[i] !== null && arrivals[i] !== undefined) await this.#drain(delivery, "tokens");
      else if (states[i] === "absent" && overflowing.has(delivery.webhook_id)) {
        await this.#drain(delivery, "refill");
      } else if (states[i] !== "live") lost.push(delivery);
    }
    return lost;
  }

  /** The webhooks of which deliveries wait in MongoDB only, because their waitlist was full. */
  async #overflowing(overdue: Overdue[]): Promise<Set<string>> {
    const ids = [...new Set(overdue.map(({ webhook_id }) => webhook_id))];
    const overflows = await Promise.all(ids.map(id => this.#platform.permits.overflow(id)));
    return new Set(ids.filter((_, i) => overflows[i] !== null));
  }

  async #drain({ webhook_id, owner_id }: Overdue, reason: Drain["reason"]): Promise<void> {
    const name = `${webhook_id} ${reason}`;
    if (this.#drained.has(name)) return;
    await enqueueDrain(this.#platform, { _id: webhook_id, owner_id }, reason, 0);
    this.#drained.add(name);
  }

  /** Moves each delivery to its next generation; those that moved on by themselves are left out. */
  async #nextGeneration(overdue: Overdue[]): Promise<Overdue[]> {
    if (overdue.length === 0) return [];
    await Deliveries(this.#platform.mongo).bulkWrite(
      overdue.map(({ _id, generation }) => ({
        updateOne: { filter: { _id, state: "pending", generation }, update: { $inc: { generation: 1 } } },
      })),
      { ordered: false },
    );
    const next = new Map(overdue.map(({ _id, generation }) => [_id, generation + 1]));
    const moved = await Deliveries(this.#platform.mongo)
      .find(
        { _id: { $in: [...next.keys()] }, state: "pending" },
        { webhook_id: 1, owner_id: 1, generation: 1, next_attempt_at_ms: 1 },
      )
      .hint({ _id: 1 })
      .lean<Overdue[]>();
    return moved.filter(({ _id, generation }) => generation === next.get(_id));
  }

  /** Returns how many were put off; a delivery that was recorded in between has a new time of its own. */
  async #postpone(overdue: Overdue[]): Promise<number> {
    const { mongo, config } = this.#platform;
    const nowMs = this.#nowMs;
    const toMs = putOffTo(nowMs, { $ifNull: ["$next_attempt_at_ms", nowMs] }, config.sweepEveryMs);
    const { modifiedCount } = await Deliveries(mongo).updateMany(
      {
        _id: { $in: overdue.map(({ _id }) => _id) },
        state: "pending",
        sweep_at_ms: { $lte: nowMs },
      },
      [{ $set: { sweep_at_ms: toMs, put_off: { at_ms: nowMs, to_ms: toMs } } }],
      { hint: { _id: 1 }, updatePipeline: true },
    );
    return modifiedCount;
  }
}
