import { accountsOfSubscriptions } from "../accounts/access.ts";
import { newId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/time.ts";
import { CodeHistories } from "../models/code-history.ts";
import { StoredEvents } from "../models/event.ts";
import { RunRecords } from "../models/run.ts";
import { type Source, SourceMemories, Sources } from "../models/source.ts";
import { AutoSubscriptions, Subscriptions } from "../models/subscription.ts";
import type { Queued, Stores } from "../platform.ts";
import { openedQueue } from "../queues/define-queue.ts";
import { emissions } from "../queues/emissions.ts";
import { enqueueRun } from "../queues/runs.ts";
import { countJobs } from "../queues/shards.ts";
import { noteDeleted } from "../store/gone.ts";
import { asRequired, requireUnchanged } from "../store/revisions.ts";
import { ofAccount } from "../store/runs/run-queue.ts";
import { listSettled } from "../store/runs/settled-runs.ts";
import { removeScheduler } from "./timer-scheduler.ts";

/**
 * Deletes a source for its owner at once. A runs worker then calls its deactivate hook and deletes its data
 * (`deleteSourceData`). Throws `precondition-failed` as `requireUnchanged` does.
 */
export async function deleteSource(platform: Stores & Queued, source: Source): Promise<void> {
  const { matchedCount } = await Sources(platform.mongo).updateOne(
    { _id: source._id, state: "ready", ...asRequired(source) },
    { $set: { state: "deleting", active: false, updated_at: unixSeconds(platform.clock()) } },
  );
  if (matchedCount === 0) return await requireUnchanged(Sources(platform.mongo), source);
  await platform.routing.invalidate([source.owner_id]);
  // If this fails, the reconciler repeats it: it looks for sources in the state `deleting`.
  try {
    await removeScheduler(platform, source._id);
    await enqueueSourceDeletion(platform, source._id, source.owner_id);
  } catch (error) {
    platform.log.warn({ source_id: source._id, err: error }, "deletion waits for the reconciler");
  }
}

/**
 * Deletes a source whose hooks were called, but for which no request waits any longer. Returns false if it is not being
 * deployed.
 */
export async function abandonDeployment(
  platform: Stores & Queued,
  { _id: sourceId, owner_id }: Pick<Source, "_id" | "owner_id">,
): Promise<boolean> {
  const { matchedCount } = await Sources(platform.mongo).updateOne(
    { _id: sourceId, state: "deploying" },
    { $set: { state: "deleting", active: false, updated_at: unixSeconds(platform.clock()) } },
  );
  if (matchedCount === 0) return false;
  await platform.routing.invalidate([owner_id]);
  // If this fails, the reconciler repeats it.
  await enqueueSourceDeletion(platform, sourceId, owner_id).catch(() => undefined);
  return true;
}

/** Puts the deletion of a source that is in the state `deleting` into its run queue. */
export async function enqueueSourceDeletion(
  platform: Stores & Queued,
  sourceId: string,
  ownerId: string,
): Promise<void> {
  const runId = newId("run", platform.clock());
  const item = { kind: "change" as const, op: "delete" as const, run_id: runId, at_ms: platform.clock() };
  await enqueueRun(platform, sourceId, item, ofAccount(ownerId));
}

/** By then what a source had emitted was handled, or something is badly wrong. */
const MAX_WAIT_SECONDS = 600;

/**
 * Whether runs of a source are settled and not recorded, or emissions of it may wait in an outbox or on their queue. Their number is too high after a crash between
 * its increment and the record of the run, so it is not believed when there is no outbox and the queue is empty.
 */
async function mayHaveWaiting(platform: Stores & Queued, sourceId: string): Promise<boolean> {
  if ((await listSettled(platform, sourceId)).length > 0) return true;
  if ((await platform.eventLog.unhandled(sourceId)) === 0) return false;
  const unsent = await RunRecords(platform.mongo)
    .findOne({ source_id: sourceId, "outbox.0": { $exists: true } }, { _id: 1 })
    .hint("unsent")
    .lean();
  if (unsent) return true;
  // After the outboxes: what leaves them in between is on the queue by now.
  const queue = openedQueue(platform.queues, emissions);
  return (await countJobs(queue, "waiting", "prioritized", "delayed", "active")) > 0;
}

/**
 * Ends the deletion of a source whose deactivate hook was called: deletes its data as soon as everything it had emitted
 * is on its way to its listeners, which need the source and its subscriptions (docs/design.md#guarantee-1). Until then,
 * for at most 10 minutes, the reconciler calls this again. Returns whether the data is deleted.
 */
export async function finishDeletion(
  platform: Stores & Parameters<typeof deleteSourceData>[0],
  source: Source,
): Promise<boolean> {
  const now = unixSeconds(platform.clock());
  const isWaiting = await mayHaveWaiting(platform, source._id);
  if (isWaiting && now - (source.deactivated_at ?? now) < MAX_WAIT_SECONDS) {
    await Sources(platform.mongo).updateOne(
      { _id: source._id, state: "deleting", deactivated_at: { $exists: false } },
      // Its owner may use the slug again.
      { $set: { deactivated_at: now, name_slug: source._id } },
    );
    return false;
  }
  await deleteSourceData(platform, source);
  return true;
}

/** Deletes a source and all its data. Its document goes last, so that the reconciler finds it after a crash. */
async function deleteSourceData(platform: Stores & Queued, source: Source): Promise<void> {
  const eitherSide = { $or: [{ emitter_id: source._id }, { listener_id: source._id }] };
  await removeScheduler(platform, source._id);
  await noteDeleted(platform, source._id);
  const subscriptions = await Subscriptions(platform.mongo)
    .find(eitherSide, { owner_id: 1, emitter_id: 1 })
    .lean();
  const accounts = await accountsOfSubscriptions(platform, subscriptions);
  await Subscriptions(platform.mongo).deleteMany(eitherSide);
  await AutoSubscriptions(platform.mongo).deleteMany({ listener_id: source._id });
  await SourceMemories(platform.mongo).deleteOne({ _id: source._id });
  await CodeHistories(platform.mongo).deleteOne({ _id: source._id });
  // Events with webhook listeners stay: a delivery of them may still be pending, or be retried.
  await StoredEvents(platform.mongo).deleteMany({ emitter_id: source._id, has_webhook_listeners: false });
  await platform.eventLog.delete(source._id);
  const { timerWaiting, timerAdmitted, arrivedIds, rejections, rejectionState } = platform.keys;
  const ofSource = [timerWaiting, timerAdmitted, arrivedIds, rejections, rejectionState];
  await platform.redis.del(ofSource.map(keyOf => keyOf(source._id)));
  await Sources(platform.mongo).deleteOne({ _id: source._id });
  await platform.routing.invalidate([source.owner_id, ...accounts]);
}
