import { newId } from "../../lib/ids.ts";
import { unixSeconds } from "../../lib/unix-seconds.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { type Session, Sessions } from "../../models/session.ts";
import type { Platform } from "../../platform.ts";
import { expiryOf } from "./expiry.ts";
import { hashOfToken, newSessionToken } from "./token.ts";

type Deps = Pick<Platform, "mongo" | "clock" | "routing">;

const MAX_USER_AGENT_CHARS = 200;

/**
 * Starts a session and returns it with its token, which can't be shown again. A user with `LIMITS.sessions` sessions loses
 * the oldest one. `keyId` is the API key whose revocation ends it; null if an OpenID provider vouched for the user.
 */
export async function startSession(
  platform: Deps,
  { userId, keyId, userAgent }: { userId: string; keyId: string | null; userAgent: string },
): Promise<{ session: Session; token: string }> {
  const token = newSessionToken();
  const now = unixSeconds(platform.clock());
  const session: Session = {
    _id: newId("ses", platform.clock()),
    hash: hashOfToken(token),
    user_id: userId,
    key_id: keyId,
    user_agent: userAgent.slice(0, MAX_USER_AGENT_CHARS),
    created_at: now,
    last_used_at: now,
    expires_at: expiryOf({ created_at: now, last_used_at: now, key_id: keyId }),
  };
  await Sessions(platform.mongo).insertOne(session);
  await endOldest(platform, userId);
  return { session, token };
}

async function endOldest(platform: Deps, userId: string): Promise<void> {
  const oldest = await Sessions(platform.mongo)
    .find({ user_id: userId }, { _id: 1 })
    .sort({ _id: -1 })
    .skip(LIMITS.sessions.value)
    .limit(LIMITS.sessions.value)
    .lean();
  if (oldest.length === 0) return;
  await Sessions(platform.mongo).deleteMany({ _id: { $in: oldest.map(({ _id }) => _id) } });
  await platform.routing.invalidate([userId]);
}
