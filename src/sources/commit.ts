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

/** The source is no longer as it was when the change was asked for. */
export class ChangeVoid extends Error {
  constructor() {
    super("the source changed meanwhile");
    this.name = "ChangeVoid";
  }
}

type Stores = Pick<Platform, "mongo" | "clock">;

const seconds = (platform: Stores) => Math.floor(platform.clock() / 1000);

/** Notes that a source takes a component up. Throws `conflict` when the component was deleted at this moment. */
export async function takeUpComponent(
  platform: Stores,
  componentId: string,
  session: ClientSession,
): Promise<void> {
  const { matchedCount } = await Components(platform.mongo).updateOne(
    { _id: componentId },
    { $set: { used_at_ms: platform.clock() } },
    { session },
  );
  if (matchedCount === 0) throw new AppError("conflict", "the component was deleted meanwhile");
}

/** Lets a deployed source exist, with the subscriptions that waited for it. Throws ChangeVoid when it was taken back. */
export async function makeReady(platform: Stores, source: Source, session: ClientSession): Promise<void> {
  const { matchedCount } = await Sources(platform.mongo).updateOne(
    { _id: source._id, state: "deploying" },
    { $set: { state: "ready", updated_at: seconds(platform) } },
    { session },
  );
  if (matchedCount === 0) throw new ChangeVoid();
  await subscribeNewEmitter(platform, { id: source._id, owner_id: source.owner_id }, session);
}

/**
 * Gives a source its new code, props or state. `source` is what the candidate was made from: throws ChangeVoid when it
 * was changed or deleted since, or when another source has taken its slug.
 */
export async function saveCandidate(
  platform: Stores,
  source: Source,
  candidate: Candidate,
  session: ClientSession,
): Promise<void> {
  await takeUpComponent(platform, candidate.component_id, session);
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
    if (matchedCount === 0) throw new ChangeVoid();
  } catch (error) {
    throw isDuplicateKey(error) ? new ChangeVoid() : error;
  }
}

/** Removes a source and all that is kept of it, last of all its document, so that a crash leaves it to be found. */
export async function removeSource(
  platform: Pick<Platform, "mongo" | "redis" | "keys" | "eventLog" | "directory" | "queues" | "runLine">,
  source: Source,
): Promise<void> {
  const touching = { $or: [{ emitter_id: source._id }, { listener_id: source._id }] };
  await removeTimer(platform, source._id);
  await Subscriptions(platform.mongo).deleteMany(touching);
  await AutoSubscriptions(platform.mongo).deleteMany({ listener_id: source._id });
  await SourceMemories(platform.mongo).deleteOne({ _id: source._id });
  // What is delivered stays: a delivery may still be under way, or be retried.
  await StoredEvents(platform.mongo).deleteMany({ emitter_id: source._id, delivered: false });
  await platform.eventLog.forget(source._id);
  await platform.redis.del(platform.keys.timerWaiting(source._id), platform.keys.timerPassed(source._id));
  await Sources(platform.mongo).deleteOne({ _id: source._id });
  await platform.directory.changed();
}
