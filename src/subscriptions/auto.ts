import type { ClientSession } from "mongoose";
import { newId } from "../lib/ids.ts";
import { AutoSubscriptions, Subscriptions } from "../models/subscription.ts";
import type { Platform } from "../platform.ts";
import type { Emitter } from "./match.ts";

/**
 * Gives a workflow or source that was just created the subscriptions that its account asked for beforehand
 * (rest-api.md, section 4.5). In the transaction that creates it, so that it never emits without them.
 */
export async function subscribeNewEmitter(
  platform: Pick<Platform, "mongo" | "clock">,
  emitter: Emitter,
  session: ClientSession,
): Promise<void> {
  const wanted = await AutoSubscriptions(platform.mongo)
    .find({ owner_id: emitter.owner_id })
    .session(session)
    .lean();
  if (wanted.length === 0) return;
  await Subscriptions(platform.mongo).insertMany(
    wanted.map(({ owner_id, user_id, listener_id, event_name }) => ({
      _id: newId("sub", platform.clock()),
      owner_id,
      user_id,
      emitter_id: emitter.id,
      listener_id,
      event_name,
      filter: null,
      created_at: Math.floor(platform.clock() / 1000),
    })),
    { session },
  );
}
