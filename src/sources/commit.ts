import type { ClientSession } from "mongoose";
import { markComponentUsed } from "../components/mark-used.ts";
import { markConnectionsUsed } from "../connections/check.ts";
import { newId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/time.ts";
import { type BegunChange, type Source, Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import type { Candidate } from "../queues/run-item.ts";
import { isDuplicateKey } from "../store/mongo.ts";
import { subscribeNewEmitter } from "../subscriptions/auto.ts";

/** The source is no longer as it was when the change was requested. */
export class ChangeSuperseded extends Error {
  constructor() {
    super("the source was changed by another request");
    this.name = "ChangeSuperseded";
  }
}

type Deps = Pick<Platform, "mongo" | "clock">;

/**
 * Makes a deployed source visible and creates the subscriptions that its account asked for in advance
 * (docs/rest-api.md#subscriptions). Throws ChangeSuperseded if the source was deleted.
 */
export async function makeReady(platform: Deps, source: Source, session: ClientSession): Promise<void> {
  const { matchedCount } = await Sources(platform.mongo).updateOne(
    { _id: source._id, state: "deploying" },
    { $set: { state: "ready", updated_at: unixSeconds(platform.clock()) } },
    { session },
  );
  if (matchedCount === 0) throw new ChangeSuperseded();
  await subscribeNewEmitter(platform, { id: source._id, owner_id: source.owner_id }, session);
}

/**
 * Saves a source's new code, props or state. `source` is what the candidate was made from. Throws ChangeSuperseded if
 * the source was changed or deleted since, or if another source has taken the candidate's slug. `switchedOff` notes that the
 * deactivate hook is still to be called; not while another change has begun.
 */
export async function saveCandidate(
  platform: Deps,
  source: Source,
  candidate: Candidate,
  session: ClientSession,
  switchedOff?: BegunChange,
): Promise<void> {
  await markComponentUsed(platform, candidate.component_id, session);
  // Those it has already may have been deleted although they are used.
  const added = candidate.connection_ids?.filter(id => !source.connection_ids?.includes(id));
  await markConnectionsUsed(platform, added ?? [], session);
  const changes = {
    ...candidate,
    timer: candidate.timer as Source["timer"],
    ...(switchedOff && { begun: switchedOff }),
    change_id: newId("ch", platform.clock()),
    updated_at: unixSeconds(platform.clock()),
  };
  try {
    const { matchedCount } = await Sources(platform.mongo).updateOne(
      { _id: source._id, state: "ready", change_id: source.change_id, ...(switchedOff && { begun: null }) },
      { $set: changes },
      { session },
    );
    if (matchedCount === 0) throw new ChangeSuperseded();
  } catch (error) {
    throw isDuplicateKey(error) ? new ChangeSuperseded() : error;
  }
}
