import { ApiKeys } from "../models/user.ts";
import type { Platform } from "../platform.ts";
import { canAccess } from "./access.ts";
import { findLiveSession } from "./sessions/find-callers.ts";

type Deps = Pick<Platform, "mongo" | "clock">;

/** Why a key or a session gives no access to an account's resources any more. */
export type AccessLost = "key-revoked" | "session-ended" | "access-lost";

/**
 * Returns why the credential of a caller gives no access to what an account owns; null if it does. `keyId` is that of the
 * caller: an API key or a session.
 */
export async function accessLost(platform: Deps, keyId: string, ownerId: string): Promise<AccessLost | null> {
  const isSession = keyId.startsWith("ses_");
  const userId = isSession
    ? (await findLiveSession(platform, keyId))?.user_id
    : (await ApiKeys(platform.mongo).findOne({ _id: keyId, revoked_at: null }).lean())?.user_id;
  if (userId === undefined) return isSession ? "session-ended" : "key-revoked";
  return (await canAccess(platform, userId, ownerId)) ? null : "access-lost";
}
