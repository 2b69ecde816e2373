import { Deliveries, type Delivery } from "../../models/delivery.ts";
import { type Recovery, type Webhook, Webhooks } from "../../models/webhook.ts";
import type { Calling, Stores, Working } from "../../platform.ts";
import type { Recover } from "../../queues/deliveries.ts";
import { Snooze } from "../../queues/verdicts.ts";
import { requeue } from "../attempt/next-attempt.ts";
import { type MaybeSendable, selectSendable } from "../attempt/prepare.ts";
import type { LogFields } from "./due.ts";

type Failed = MaybeSendable & Pick<Delivery, "_id" | "webhook_id" | "generation">;

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
  platform: Working & Calling,
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
      { webhook_id: 1, emit_id: 1, subscription_id: 1, subscriber_id: 1, owner_id: 1, generation: 1 },
    )
    .sort({ _id: 1 })
    // The one more is the first of the next batch.
    .limit(batchSize + 1)
    .lean<Failed[]>();
  const sendable = await selectSendable(platform, failed.slice(0, batchSize));
  const requeued = await requeue(
    platform,
    sendable.map(({ row }) => row),
  );
  const recovered = recovery.recovered + requeued;
  const next = failed[batchSize];
  if (next) {
    await save(platform, webhook, { recovered, next_delivery_id: next._id, failures: 0 });
    throw new Snooze(BATCH_SPACING_MS, { ...job, recovered });
  }
  await save(platform, webhook, { recovered, state: "done", finished_at_ms: platform.clock() });
  return { ...job, recovered, result: "recovered" };
}

/** Changes the recovery, unless another one has superseded it. */
async function save(platform: Stores, { _id, recovery }: Webhook, changes: Partial<Recovery>): Promise<void> {
  const fields = Object.entries(changes).map(([name, value]) => [`recovery.${name}`, value]);
  await Webhooks(platform.mongo).updateOne(
    { _id, "recovery.id": recovery?.id },
    { $set: Object.fromEntries(fields) },
  );
}
