import { failpoint } from "../../lib/failpoint.ts";
import {
  ATTEMPTS_KEPT,
  type Attempt,
  Deliveries,
  type Delivery,
  type EndReason,
  NOTHING_TO_COME,
} from "../../models/delivery.ts";
import type { Platform } from "../../platform.ts";
import { enqueue } from "../../queues/define-queue.ts";
import { deliveries } from "../../queues/deliveries.ts";
import { countDrop } from "../../store/drops.ts";
import { duplicateIndexes } from "../../store/mongo.ts";
import type { MadeAttempt } from "./attempt.ts";

type Stores = Pick<Platform, "mongo" | "redis" | "keys" | "queues" | "config" | "clock" | "counters">;

export interface Made extends MadeAttempt {
  delivery: Delivery;
  /** The round of the job that made it. */
  round: number;
}

/**
 * Records an attempt and what follows from it in one conditional write, and enqueues what is to come after that: a
 * crash in between leaves a pending delivery that the sweep finds. False when the delivery had moved on meanwhile
 * (retried by hand, cancelled): then only the attempt is logged.
 */
export async function recordAttempt(platform: Stores, made: Made): Promise<boolean> {
  const { delivery, outcome } = made;
  const model = Deliveries(platform.mongo);
  const pushed = { attempts: { $each: [attemptOf(made)], $slice: -ATTEMPTS_KEPT } };
  const round = made.round + 1;
  const { matchedCount } = await model.updateOne(
    { _id: delivery._id, state: "pending", round: delivery.round },
    { $set: { ...following(platform, made), round, step: delivery.step + 1 }, $push: pushed },
  );
  if (matchedCount === 0) {
    await model.updateOne({ _id: delivery._id }, { $push: pushed });
    return false;
  }
  failpoint("retry-recorded");
  if (outcome.kind === "retry") {
    const next = { delivery_id: delivery._id, webhook_id: delivery.webhook_id, round };
    await enqueue(platform.queues, deliveries, next, { delayMs: outcome.delayMs });
  }
  return true;
}

/**
 * Records first attempts: each delivery becomes a document with what came of it. Those that are there already stay as
 * they are. What is to be tried again is enqueued.
 */
export async function recordFirst(platform: Stores, made: Made[]): Promise<void> {
  const rows = made.map(
    (one): Delivery => ({
      ...one.delivery,
      ...following(platform, one),
      attempts: [attemptOf(one)],
      round: 1,
      step: 1,
    }),
  );
  const inserted = await insertNew(platform, rows);
  failpoint("first-attempts-recorded");
  for (const row of inserted) {
    if (row.state !== "pending") continue;
    const next = { delivery_id: row._id, webhook_id: row.webhook_id, round: row.round };
    const delayMs = Math.max(0, (row.next_attempt_at_ms ?? 0) - platform.clock());
    await enqueue(platform.queues, deliveries, next, { delayMs });
  }
}

/** Inserts the rows that do not exist yet, and answers those. */
export async function insertNew(platform: Pick<Platform, "mongo">, rows: Delivery[]): Promise<Delivery[]> {
  if (rows.length === 0) return [];
  try {
    await Deliveries(platform.mongo).insertMany(rows, { ordered: false, lean: true });
    return rows;
  } catch (error) {
    const existing = duplicateIndexes(error);
    if (!existing) throw error;
    return rows.filter((_, index) => !existing.has(index));
  }
}

function attemptOf({ delivery, number, startedAtMs, answer }: Made): Attempt {
  return {
    number,
    at_ms: startedAtMs,
    trigger: delivery.trigger,
    status: answer.status,
    latency_ms: answer.latencyMs,
    error: answer.error,
    response: answer.response,
  };
}

function following({ config }: Pick<Platform, "config">, { outcome, nowMs }: Made): Partial<Delivery> {
  if (outcome.kind === "retry") {
    const at = nowMs + outcome.delayMs;
    return { trigger: "schedule", next_attempt_at_ms: at, sweep_at_ms: at + config.sweepEveryMs };
  }
  return {
    state: outcome.kind,
    reason: outcome.kind === "failed" ? outcome.reason : null,
    ...NOTHING_TO_COME,
    finished_at_ms: nowMs,
  };
}

/**
 * Ends a pending delivery without another attempt: quietly where its webhook or subscription is gone, counted where the
 * webhook is disabled (design.md, guarantee 8).
 */
export async function endDelivery(platform: Stores, delivery: Delivery, reason: EndReason): Promise<void> {
  const state = reason === "webhook-deleted" || reason === "subscription-deleted" ? "cancelled" : "failed";
  const { matchedCount } = await Deliveries(platform.mongo).updateOne(
    { _id: delivery._id, state: "pending", round: delivery.round },
    { $set: { state, reason, ...NOTHING_TO_COME, finished_at_ms: platform.clock() } },
  );
  if (matchedCount === 0) return;
  platform.counters.add("deliveries_total", { outcome: state });
  if (reason === "webhook-disabled") await countDrop(platform, delivery.emitter_id, reason);
}
