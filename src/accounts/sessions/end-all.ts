import { notFound } from "../../lib/errors.ts";
import { Sessions } from "../../models/session.ts";
import { Users } from "../../models/user.ts";
import type { Platform } from "../../platform.ts";

/** Ends every session of a user from the next request on. Returns how many there were. Throws `not-found`. */
export async function endAllSessions(
  platform: Pick<Platform, "mongo" | "routing">,
  userId: string,
): Promise<{ id: string; ended_sessions: number }> {
  if (!(await Users(platform.mongo).exists({ _id: userId }))) throw notFound("user");
  const { deletedCount } = await Sessions(platform.mongo).deleteMany({ user_id: userId });
  await platform.routing.invalidate([userId]);
  return { id: userId, ended_sessions: deletedCount };
}
