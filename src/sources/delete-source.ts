import { accountsOfSubscriptions } from "../accounts/routing-accounts.ts";
import { newId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/unix-seconds.ts";
import { StoredEvents } from "../models/event.ts";
import { type Source, SourceMemories, Sources } from "../models/source.ts";
import { AutoSubscriptions, Subscriptions } from "../models/subscription.ts";
import type { Platform } from "../platform.ts";
import { enqueueRun } from "../queues/enqueue-run.ts";
import { removeScheduler } from "./timer-scheduler.ts";

type QueueDeps = Pick<Platform, "queues" | "runQueue" | "clock">;

/**
 * Deletes a source for its owner at once. A runs worker then calls its deactivate hook and deletes its data
 * (`deleteSourceData`).
 */
export async function deleteSource(
  platform: QueueDeps & Pick<Platform, "mongo" | "log">,
  source: Source,
): Promise<void> {
  const { matchedCount } = await Sources(platform.mongo).updateOne(
    { _id: source._id, state: "ready" },
    { $set: { state: "deleting", active: false, updated_at: unixSeconds(platform.clock()) } },
  );
  if (matchedCount === 0) return;
  // If this fails, the reconciler repeats it: it looks for sources in the state `deleting`.
  try {
    await removeScheduler(platform, source._id);
    await enqueueSourceDeletion(platform, source._id);
  } catch (error) {
    platform.log.warn({ source_id: source._id, err: error }, "deletion waits for the reconciler");
  }
}

/** Puts the deletion of a source that is in the state `deleting` into its run queue. */
export async function enqueueSourceDeletion(platform: QueueDeps, sourceId: string): Promise<void> {
  await enqueueRun(platform, sourceId, {
    kind: "change",
    op: "delete",
    run_id: newId("run", platform.clock()),
    at_ms: platform.clock(),
  });
}

/** Deletes a source and all its data. Its document goes last, so that the reconciler finds it after a crash. */
export async function deleteSourceData(
  platform: Pick<Platform, "mongo" | "redis" | "keys" | "eventLog" | "routing" | "queues" | "runQueue">,
  source: Source,
): Promise<void> {
  const eitherSide = { $or: [{ emitter_id: source._id }, { listener_id: source._id }] };
  await removeScheduler(platform, source._id);
  const subscriptions = await Subscriptions(platform.mongo)
    .find(eitherSide, { owner_id: 1, emitter_id: 1 })
    .lean();
  const accounts = await accountsOfSubscriptions(platform, subscriptions);
  await Subscriptions(platform.mongo).deleteMany(eitherSide);
  await AutoSubscriptions(platform.mongo).deleteMany({ listener_id: source._id });
  await SourceMemories(platform.mongo).deleteOne({ _id: source._id });
  // Events with webhook listeners stay: a delivery of them may still be pending, or be retried.
  await StoredEvents(platform.mongo).deleteMany({ emitter_id: source._id, has_webhook_listeners: false });
  await platform.eventLog.delete(source._id);
  await platform.redis.del(platform.keys.timerWaiting(source._id), platform.keys.timerAdmitted(source._id));
  await Sources(platform.mongo).deleteOne({ _id: source._id });
  await platform.routing.invalidate([source.owner_id, ...accounts]);
}
