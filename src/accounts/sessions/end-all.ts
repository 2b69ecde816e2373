import { notFound } from "../../lib/errors.ts";
import { Sessions } from "../../models/session.ts";
import { Users } from "../../models/user.ts";
import type { Platform } from "../../platform.ts";
import { revokeProviderKeys } from "../api-keys.ts";

/**
 * Ends every session of a user from the next request on, and revokes the API keys that end with the provider's word. Returns how many
 * there were. Throws `not-found`.
 */
export async function endAllSessions(
  platform: Pick<Platform, "mongo" | "routing" | "clock">,
  userId: string,
): Promise<{ id: string; ended_sessions: number; revoked_keys: number }> {
  if (!(await Users(platform.mongo).exists({ _id: userId }))) throw notFound("user");
  const { deletedCount } = await Sessions(platform.mongo).deleteMany({ user_id: userId });
  const revoked = await revokeProviderKeys(platform, userId);
  await platform.routing.invalidate([userId]);
  return { id: userId, ended_sessions: deletedCount, revoked_keys: revoked };
}
