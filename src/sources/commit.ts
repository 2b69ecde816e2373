import type { ClientSession } from "mongoose";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { Components } from "../models/component.ts";
import { StoredEvents } from "../models/event.ts";
import { type Source, SourceMemories, Sources } from "../models/source.ts";
import { AutoSubscriptions, Subscriptions } from "../models/subscription.ts";
import type { Platform } from "../platform.ts";
import type { Candidate } from "../queues/run-item.ts";
import { isDuplicateKey } from "../store/mongo.ts";
import { subscribeNewEmitter } from "../subscriptions/auto.ts";
import { removeTimer } from "./schedule.ts";

/** The source is no longer as it was when the change was requested. */
export class ChangeSuperseded extends Error {
  constructor() {
    super("the source was changed by another request");
    this.name = "ChangeSuperseded";
  }
}

type Deps = Pick<Platform, "mongo" | "clock">;

const seconds = (platform: Deps) => Math.floor(platform.clock() / 1000);

/** Marks a component as used by a source. Throws `conflict` if it was deleted at this moment. */
export async function markComponentUsed(
  platform: Deps,
  componentId: string,
  session: ClientSession,
): Promise<void> {
  const { matchedCount } = await Components(platform.mongo).updateOne(
    { _id: componentId },
    { $set: { used_at_ms: platform.clock() } },
    { session },
  );
  if (matchedCount === 0) throw new AppError("conflict", "the component was deleted by another request");
}

/** Makes a deployed source visible, with the subscriptions that waited for it. Throws ChangeSuperseded if it was deleted. */
export async function makeReady(platform: Deps, source: Source, session: ClientSession): Promise<void> {
  const { matchedCount } = await Sources(platform.mongo).updateOne(
    { _id: source._id, state: "deploying" },
    { $set: { state: "ready", updated_at: seconds(platform) } },
    { session },
  );
  if (matchedCount === 0) throw new ChangeSuperseded();
  await subscribeNewEmitter(platform, { id: source._id, owner_id: source.owner_id }, session);
}

/**
 * Saves a source's new code, props or state. `source` is what the candidate was made from: throws ChangeSuperseded if it was
 * changed or deleted since, or if another source has taken its slug.
 */
export async function saveCandidate(
  platform: Deps,
  source: Source,
  candidate: Candidate,
  session: ClientSession,
): Promise<void> {
  await markComponentUsed(platform, candidate.component_id, session);
  const changes = {
    ...candidate,
    timer: candidate.timer as Source["timer"],
    change_id: newId("ch", platform.clock()),
    updated_at: seconds(platform),
  };
  try {
    const { matchedCount } = await Sources(platform.mongo).updateOne(
      { _id: source._id, state: "ready", change_id: source.change_id },
      { $set: changes },
      { session },
    );
    if (matchedCount === 0) throw new ChangeSuperseded();
  } catch (error) {
    throw isDuplicateKey(error) ? new ChangeSuperseded() : error;
  }
}

/** Deletes a source and everything kept for it, its document last, so that the reconciler finds it after a crash. */
export async function deleteSourceData(
  platform: Pick<Platform, "mongo" | "redis" | "keys" | "eventLog" | "routing" | "queues" | "runQueue">,
  source: Source,
): Promise<void> {
  const touching = { $or: [{ emitter_id: source._id }, { listener_id: source._id }] };
  await removeTimer(platform, source._id);
  await Subscriptions(platform.mongo).deleteMany(touching);
  await AutoSubscriptions(platform.mongo).deleteMany({ listener_id: source._id });
  await SourceMemories(platform.mongo).deleteOne({ _id: source._id });
  // Payloads of deliveries stay: a delivery may still be pending, or be retried.
  await StoredEvents(platform.mongo).deleteMany({ emitter_id: source._id, has_webhook_listeners: false });
  await platform.eventLog.delete(source._id);
  await platform.redis.del(platform.keys.timerWaiting(source._id), platform.keys.timerAdmitted(source._id));
  await Sources(platform.mongo).deleteOne({ _id: source._id });
  await platform.routing.invalidate();
}
