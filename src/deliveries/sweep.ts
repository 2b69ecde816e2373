import { type FairBatch, type OfAccounts, openFairBatches } from "../fairness/batches.ts";
import { groupBy } from "../lib/lists.ts";
import { ofPart, type Part } from "../lib/part.ts";
import { Deliveries, type Delivery } from "../models/delivery.ts";
import { Webhooks } from "../models/webhook.ts";
import type { Queued, Stores } from "../platform.ts";
import { jobStates } from "../queues/define-queue.ts";
import { deliveries, drainJobIdOf, enqueueDrains } from "../queues/deliveries.ts";
import { putOffTo } from "../store/sweeps/put-off.ts";
import { repairAll } from "../store/sweeps/repair-each.ts";
import type { SweepBatch, Swept } from "../store/sweeps/sweep-turns.ts";
import { isLeftToSweep } from "./attempt/next-attempt.ts";

type Overdue = Pick<
  Delivery,
  "_id" | "webhook_id" | "owner_id" | "next_attempt_at_ms" | "sweep_at_ms" | "in_flight_until_ms"
>;

const BATCH = 500;

/**
 * Drains the webhooks of pending deliveries that are due and that no drain is known to send: those that were left to the sweep
 * because they were far away, and those that are overdue, because they were stored and never enqueued, their drain was lost
 * with Redis, or their attempt with its process (docs/design.md#guarantee-2); only those count as repaired. One that waits for
 * a permit or for its turn in an order is not lost, but its webhook is drained as well, in case nothing else does. Each batch is
 * put off, ever longer with the delivery's age, so the index itself says where the next one begins.
 */
export function beginDeliverySweep(platform: Stores & Queued, part: Part): SweepBatch {
  const sweep = new DeliverySweep(platform, part);
  return () => sweep.next();
}

class DeliverySweep {
  readonly #platform: Stores & Queued;
  /** Which deliveries are its part of all; part of a query. */
  readonly #ids: object;
  /** Fixed: a delivery that becomes due again while the turn lasts belongs to the next turn. */
  readonly #nowMs: number;
  /** Webhooks that were drained in this turn: whether their overdue deliveries count as lost. */
  readonly #drained = new Map<string, boolean>();
  readonly #nextBatch: () => Promise<FairBatch<Overdue>>;

  constructor(platform: Stores & Queued, part: Part) {
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
      repair: some => this.#drain(some),
    });
    const moved = await this.#postpone(overdue);
    // Without progress the next batch would be this one again.
    return { repaired, next: isLast || moved === 0 ? null : "more" };
  }

  async #find(which: OfAccounts, size: number): Promise<Overdue[]> {
    return await Deliveries(this.#platform.mongo)
      .find(
        { state: "pending", sweep_at_ms: { $lte: this.#nowMs }, ...this.#ids, ...which },
        { webhook_id: 1, owner_id: 1, next_attempt_at_ms: 1, sweep_at_ms: 1, in_flight_until_ms: 1 },
      )
      .sort({ sweep_at_ms: 1 })
      .limit(size)
      .lean<Overdue[]>();
  }

  /** Drains the webhooks of these deliveries; returns how many of them were lost. */
  async #drain(overdue: Overdue[]): Promise<number> {
    const withoutDrain = await this.#withoutDrain(overdue);
    const byWebhook = groupBy(withoutDrain, ({ webhook_id }) => webhook_id);
    const ids = [...byWebhook.keys()].filter(id => !this.#drained.has(id));
    const [ordered, drained] = await Promise.all([
      this.#ordered(ids),
      this.#platform.permits.findDrained(ids),
    ]);
    await enqueueDrains(
      this.#platform,
      ids.map(webhook_id => {
        const owner_id = byWebhook.get(webhook_id)?.[0]?.owner_id;
        return { webhook_id, owner_id, dueAtMs: this.#nowMs };
      }),
    );
    await Promise.all(ids.map(id => this.#platform.permits.deleteWaitlist(id)));
    for (const id of ids) this.#drained.set(id, !ordered.has(id) && !drained.has(id));
    return withoutDrain.filter(one => this.#drained.get(one.webhook_id) && this.#isLost(one)).length;
  }

  /** Leaves out deliveries that are due in a drain that waits in its queue. */
  async #withoutDrain(overdue: Overdue[]): Promise<Overdue[]> {
    const idOf = (one: Overdue) => drainJobIdOf(one.webhook_id, one.next_attempt_at_ms ?? 0);
    const ids = [...new Set(overdue.map(idOf))];
    const states = await jobStates(this.#platform, deliveries, ids);
    const live = new Set(ids.filter((_, i) => states[i] === "live"));
    return overdue.filter(one => !live.has(idOf(one)));
  }

  async #ordered(ids: string[]): Promise<Set<string>> {
    const found = await Webhooks(this.#platform.mongo)
      .find({ _id: { $in: ids }, active: true, ordered: true }, { _id: 1 })
      .lean();
    return new Set(found.map(({ _id }) => _id));
  }

  /** One that was far away was left to the sweep; one whose attempt should have ended has lost it. */
  #isLost(one: Overdue): boolean {
    if (one.in_flight_until_ms !== undefined) return one.in_flight_until_ms <= this.#nowMs;
    return !isLeftToSweep(one);
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
