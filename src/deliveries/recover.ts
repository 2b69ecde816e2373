import { notFound } from "../lib/errors.ts";
import { firstIdAt, newId } from "../lib/ids.ts";
import { Deliveries } from "../models/delivery.ts";
import { type Recovery, type Webhook, Webhooks } from "../models/webhook.ts";
import type { Queued, Stores } from "../platform.ts";
import { enqueue, jobState } from "../queues/define-queue.ts";
import { deliveries, recoverJobId } from "../queues/deliveries.ts";
import { rejectDisabled } from "./manual-retry.ts";
import { presentRecovery } from "./read.ts";
import type { RecoveryView } from "./schema.ts";

/** Returns how many deliveries of events since that moment (Unix milliseconds) have failed. */
export async function countFailed(platform: Stores, webhook: Webhook, sinceMs: number): Promise<number> {
  return await Deliveries(platform.mongo).countDocuments({
    webhook_id: webhook._id,
    state: "failed",
    _id: { $gte: firstIdAt("dlv", sinceMs) },
  });
}

/**
 * Has a worker retry every failed delivery of events since that moment (Unix milliseconds), and returns the recovery as
 * it begins. One that is in progress and covers that moment is returned instead; any other one is superseded. Throws
 * `conflict` for a disabled webhook.
 */
export async function startRecovery(
  platform: Stores & Queued,
  webhook: Webhook,
  sinceMs: number,
): Promise<Recovery> {
  rejectDisabled(webhook);
  const current = webhook.recovery;
  if (current && current.since_ms <= sinceMs && (await isInProgress(platform, webhook._id, current))) {
    return current;
  }
  const recovery: Recovery = {
    id: newId("rec", platform.clock()),
    since_ms: sinceMs,
    state: "running",
    count: await countFailed(platform, webhook, sinceMs),
    recovered: 0,
    next_delivery_id: firstIdAt("dlv", sinceMs),
    started_at_ms: platform.clock(),
    finished_at_ms: null,
  };
  await Webhooks(platform.mongo).updateOne({ _id: webhook._id }, { $set: { recovery } });
  const job = { webhook_id: webhook._id, recovery_id: recovery.id, account_id: webhook.owner_id };
  await enqueue(platform.queues, deliveries.jobs.recover, job);
  return recovery;
}

/** A recovery whose job was lost with Redis is not in progress: the next request starts it again. */
async function isInProgress(
  platform: Stores & Queued,
  webhookId: string,
  { id, state }: Recovery,
): Promise<boolean> {
  const jobId = recoverJobId({ webhook_id: webhookId, recovery_id: id });
  return state === "running" && (await jobState(platform, deliveries, jobId)) === "live";
}

/**
 * Has a worker retry the failed deliveries since a moment (Unix seconds), or only counts them (`dry_run`). Throws `conflict`
 * for a disabled webhook or destination.
 */
export async function requestRecovery(
  platform: Parameters<typeof startRecovery>[0],
  webhook: Webhook,
  { since, dry_run }: { since: number; dry_run?: boolean },
): Promise<RecoveryView> {
  if (!dry_run) return presentRecovery(await startRecovery(platform, webhook, since * 1000));
  const count = await countFailed(platform, webhook, since * 1000);
  return { count, recovered: 0, state: "counted", since, started_at_ms: null, finished_at_ms: null };
}

/** Returns the progress of the last recovery. Throws `not-found` if there was none. */
export function readRecovery({ recovery }: Webhook): RecoveryView {
  if (!recovery) throw notFound("recovery");
  return presentRecovery(recovery);
}
