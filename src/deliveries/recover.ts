import { firstIdAt } from "../lib/ids.ts";
import { Deliveries, type Delivery } from "../models/delivery.ts";
import { StoredEvents } from "../models/event.ts";
import type { Webhook } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { enqueueAll } from "../queues/define-queue.ts";
import { deliveries, type NextAttempt } from "../queues/deliveries.ts";
import { refuseDisabled, retryNow } from "./manual-retry.ts";

type Stores = Pick<Platform, "mongo" | "queues" | "config" | "clock">;
type Failed = Pick<Delivery, "_id" | "emit_id" | "round">;

const BATCH = 500;
/** Each batch is due this much after the one before, so that a million retries do not stand in everyone else's way. */
const BATCH_SPACING_MS = 250;

const failedSince = (webhook: Webhook, sinceMs: number) => ({
  webhook_id: webhook._id,
  state: "failed" as const,
  _id: { $gte: firstIdAt("dlv", sinceMs) },
});

/** How many deliveries of events since that moment (Unix milliseconds) have failed. */
export async function countFailed(
  platform: Pick<Platform, "mongo">,
  webhook: Webhook,
  sinceMs: number,
): Promise<number> {
  return await Deliveries(platform.mongo).countDocuments(failedSince(webhook, sinceMs));
}

/**
 * Tries all failed deliveries of events since that moment again, oldest first, in batches; answers how many. Those whose
 * payload is gone stay failed. Ended halfway, it has lost nothing, and the same call goes on where it stopped. Throws
 * `conflict` for a disabled webhook.
 */
export async function recoverFailed(platform: Stores, webhook: Webhook, sinceMs: number): Promise<number> {
  refuseDisabled(webhook);
  let recovered = 0;
  let from: { $gte: string } | { $gt: string } = { $gte: firstIdAt("dlv", sinceMs) };
  for (let batch = 0; ; batch++) {
    const failed: Failed[] = await Deliveries(platform.mongo)
      .find({ webhook_id: webhook._id, state: "failed", _id: from }, { emit_id: 1, round: 1 })
      .sort({ _id: 1 })
      .limit(BATCH)
      .lean<Failed[]>();
    recovered += await recoverBatch(platform, webhook, failed, batch * BATCH_SPACING_MS);
    const last = failed.at(-1);
    if (!last || failed.length < BATCH) return recovered;
    from = { $gt: last._id };
  }
}

async function recoverBatch(
  platform: Stores,
  webhook: Webhook,
  failed: Failed[],
  delayMs: number,
): Promise<number> {
  const payloads = await StoredEvents(platform.mongo)
    .find({ _id: { $in: failed.map(delivery => delivery.emit_id) } }, { _id: 1 })
    .lean();
  const kept = new Set(payloads.map(payload => payload._id));
  const able = failed.filter(delivery => kept.has(delivery.emit_id));
  if (able.length === 0) return 0;
  const { modifiedCount } = await Deliveries(platform.mongo).bulkWrite(
    able.map(({ _id, round }) => ({
      updateOne: {
        // One that was retried by hand meanwhile keeps that retry, and the job below is void.
        filter: { _id, round, state: "failed" },
        update: { $set: { ...retryNow(platform, delayMs), round: round + 1 } },
      },
    })),
    { ordered: false },
  );
  const jobs: NextAttempt[] = able.map(({ _id, round }) => ({
    delivery_id: _id,
    webhook_id: webhook._id,
    round: round + 1,
  }));
  await enqueueAll(platform.queues, deliveries, jobs, { delayMs });
  return modifiedCount;
}
