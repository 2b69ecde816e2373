import { firstIdAt } from "../lib/ids.ts";
import { Deliveries, type Delivery } from "../models/delivery.ts";
import { StoredEvents } from "../models/event.ts";
import type { Webhook } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { enqueueAll } from "../queues/define-queue.ts";
import { deliveries, nextAttemptOf } from "../queues/deliveries.ts";
import { rejectDisabled, retryFields } from "./manual-retry.ts";

type Deps = Pick<Platform, "mongo" | "queues" | "config" | "clock">;
type Failed = Pick<Delivery, "_id" | "emit_id" | "generation">;

const BATCH = 500;
/** Each batch is due this much after the one before, so that a million retries do not delay everything else. */
const BATCH_SPACING_MS = 250;

const failedSince = (webhook: Webhook, sinceMs: number) => ({
  webhook_id: webhook._id,
  state: "failed" as const,
  _id: { $gte: firstIdAt("dlv", sinceMs) },
});

/** Returns how many deliveries of events since that moment (Unix milliseconds) have failed. */
export async function countFailed(
  platform: Pick<Platform, "mongo">,
  webhook: Webhook,
  sinceMs: number,
): Promise<number> {
  return await Deliveries(platform.mongo).countDocuments(failedSince(webhook, sinceMs));
}

/**
 * Retries every failed delivery of events since that moment, oldest first, in batches; returns how many. Deliveries whose
 * payload is gone stay failed. Interrupted halfway, it loses nothing: the same call continues. Throws `conflict` for a
 * disabled webhook.
 */
export async function recoverFailed(platform: Deps, webhook: Webhook, sinceMs: number): Promise<number> {
  rejectDisabled(webhook);
  let recovered = 0;
  let from: { $gte: string } | { $gt: string } = { $gte: firstIdAt("dlv", sinceMs) };
  for (let batch = 0; ; batch++) {
    const failed: Failed[] = await Deliveries(platform.mongo)
      .find({ webhook_id: webhook._id, state: "failed", _id: from }, { emit_id: 1, generation: 1 })
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
  platform: Deps,
  webhook: Webhook,
  failed: Failed[],
  delayMs: number,
): Promise<number> {
  const payloads = await StoredEvents(platform.mongo)
    .find({ _id: { $in: failed.map(delivery => delivery.emit_id) } }, { _id: 1 })
    .lean();
  const kept = new Set(payloads.map(payload => payload._id));
  const recoverable = failed.filter(delivery => kept.has(delivery.emit_id));
  if (recoverable.length === 0) return 0;
  const { modifiedCount } = await Deliveries(platform.mongo).bulkWrite(
    recoverable.map(({ _id, generation }) => ({
      updateOne: {
        // A delivery that was retried in between keeps that retry, and the job below is superseded.
        filter: { _id, generation, state: "failed" },
        update: { $set: { ...retryFields(platform, delayMs), generation: generation + 1 } },
      },
    })),
    { ordered: false },
  );
  const jobs = recoverable.map(({ _id, generation }) =>
    nextAttemptOf({ _id, webhook_id: webhook._id, owner_id: webhook.owner_id, generation: generation + 1 }),
  );
  await enqueueAll(platform.queues, deliveries.jobs["next-attempt"], jobs, { delayMs });
  return modifiedCount;
}
