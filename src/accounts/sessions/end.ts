import { type Session, Sessions } from "../../models/session.ts";
import type { Platform } from "../../platform.ts";

type Deps = Pick<Platform, "mongo" | "routing">;

/** Ends a session: it is rejected from the next request on. */
export async function endSession(
  platform: Deps,
  { _id, user_id }: Pick<Session, "_id" | "user_id">,
): Promise<void> {
  await Sessions(platform.mongo).deleteOne({ _id });
  await platform.routing.invalidate([user_id]);
}
