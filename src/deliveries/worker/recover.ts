import { Deliveries, type Delivery } from "../../models/delivery.ts";
import { type Recovery, type Webhook, Webhooks } from "../../models/webhook.ts";
import { enqueueAll } from "../../queues/define-queue.ts";
import { deliveries, nextAttemptOf, type Recover } from "../../queues/deliveries.ts";
import { Snooze } from "../../queues/snooze.ts";
import { retryFields } from "../attempt/retry-fields.ts";
import { type MaybeSendable, selectSendable } from "../attempt/select-sendable.ts";
import type { DeliveryDeps, LogFields } from "./deps.ts";

type Failed = MaybeSendable & Pick<Delivery, "_id" | "generation">;

const BATCH = 500;
/** Between two batches, so that a million retries neither hold a slot nor delay everything else. */
const BATCH_SPACING_MS = 250;

/**
 * Handles a `recover` job: retries one batch of a webhook's failed deliveries, oldest first, and comes back for the next
 * (docs/design.md#delivery-to-a-webhook). Deliveries that may not be sent again stay failed
 * (`selectSendable`). Where it stopped is in the webhook's
 * `recovery`, so a repeated job retries nothing twice.
 */
export async function recoverFailed(
  platform: DeliveryDeps,
  { job }: { job: Recover },
  batchSize = BATCH,
): Promise<LogFields> {
  const webhook = await Webhooks(platform.mongo).findById(job.webhook_id).lean();
  const recovery = webhook?.recovery;
  if (!recovery || recovery.id !== job.recovery_id || recovery.state !== "running") {
    return { ...job, result: "superseded" };
  }
  if (!webhook.active) {
    await save(platform, webhook, { state: "stopped", finished_at_ms: platform.clock() });
    return { ...job, result: "webhook-disabled" };
  }
  const failed: Failed[] = await Deliveries(platform.mongo)
    .find(
      { webhook_id: webhook._id, state: "failed", _id: { $gte: recovery.next_delivery_id } },
      { emit_id: 1, subscription_id: 1, subscriber_id: 1, owner_id: 1, generation: 1 },
    )
    .sort({ _id: 1 })
    // The one more is the first of the next batch.
    .limit(batchSize + 1)
    .lean<Failed[]>();
  const recovered = recovery.recovered + (await recoverBatch(platform, webhook, failed.slice(0, batchSize)));
  const next = failed[batchSize];
  if (next) {
    await save(platform, webhook, { recovered, next_delivery_id: next._id, failures: 0 });
    throw new Snooze(BATCH_SPACING_MS, { ...job, recovered });
  }
  await save(platform, webhook, { recovered, state: "done", finished_at_ms: platform.clock() });
  return { ...job, recovered, result: "recovered" };
}

/** Changes the recovery, unless another one has superseded it. */
async function save(
  platform: Pick<DeliveryDeps, "mongo">,
  { _id, recovery }: Webhook,
  changes: Partial<Recovery>,
): Promise<void> {
  const fields = Object.entries(changes).map(([name, value]) => [`recovery.${name}`, value]);
  await Webhooks(platform.mongo).updateOne(
    { _id, "recovery.id": recovery?.id },
    { $set: Object.fromEntries(fields) },
  );
}

async function recoverBatch(platform: DeliveryDeps, webhook: Webhook, failed: Failed[]): Promise<number> {
  const recoverable = (await selectSendable(platform, failed)).map(({ row }) => row);
  if (recoverable.length === 0) return 0;
  const { modifiedCount } = await Deliveries(platform.mongo).bulkWrite(
    recoverable.map(({ _id, generation }) => ({
      updateOne: {
        // A delivery that was retried in between keeps that retry, and the job below is superseded.
        filter: { _id, generation, state: "failed" },
        update: { $set: { ...retryFields(platform), generation: generation + 1 } },
      },
    })),
    { ordered: false },
  );
  const jobs = recoverable.map(({ _id, generation }) =>
    nextAttemptOf({ _id, webhook_id: webhook._id, owner_id: webhook.owner_id, generation: generation + 1 }),
  );
  await enqueueAll(platform.queues, deliveries.jobs["next-attempt"], jobs);
  return modifiedCount;
}
