import type { Caller } from "../../http/route.ts";
import { unixSeconds } from "../../lib/unix-seconds.ts";
import { type Session, Sessions } from "../../models/session.ts";
import { ApiKeys } from "../../models/user.ts";
import type { Platform } from "../../platform.ts";
import { organizationsOf } from "../memberships.ts";
import { expiryOf } from "./expiry.ts";

type Deps = Pick<Platform, "mongo" | "clock">;

/** A session's last use is written at most this often. */
const NOTED_EVERY_S = 60;

/** Returns the users of sessions, by the hashes of their tokens; null for one that is unknown or has ended. */
export async function findSessionCallers(platform: Deps, hashes: string[]): Promise<(Caller | null)[]> {
  const sessions = await liveSessions(platform, { hash: { $in: hashes } });
  noteUse(platform, sessions);
  const orgIds = await organizationsOf(platform, [...new Set(sessions.map(({ user_id }) => user_id))]);
  const byHash = new Map(sessions.map(session => [session.hash, session]));
  return hashes.map(hash => {
    const session = byHash.get(hash);
    if (!session) return null;
    const { _id, user_id } = session;
    return { userId: user_id, keyId: _id, sessionId: _id, orgIds: orgIds(user_id) };
  });
}

/** Returns the session with this id if it has not ended, otherwise null. */
export async function findLiveSession(platform: Deps, id: string): Promise<Session | null> {
  const [session = null] = await liveSessions(platform, { _id: { $in: [id] } });
  return session;
}

/** A session ends with its key, even if a process died between the revocation and the deletion of the key's sessions. */
async function liveSessions(
  platform: Deps,
  filter: { hash: { $in: string[] } } | { _id: { $in: string[] } },
): Promise<Session[]> {
  const now = new Date(platform.clock());
  const found = await Sessions(platform.mongo)
    .find({ ...filter, expires_at: { $gt: now } })
    .lean<Session[]>();
  const keyIds = found.flatMap(({ key_id }) => key_id ?? []);
  if (keyIds.length === 0) return found;
  const keys = await ApiKeys(platform.mongo)
    .find({ _id: { $in: keyIds }, revoked_at: null }, { _id: 1 })
    .lean();
  const valid = new Set(keys.map(({ _id }) => _id));
  return found.filter(({ key_id }) => key_id === null || valid.has(key_id));
}

/** Not awaited: a request needs no record of itself. */
function noteUse(platform: Deps, sessions: Session[]): void {
  const now = unixSeconds(platform.clock());
  for (const session of sessions) {
    const { _id, last_used_at } = session;
    if (now - last_used_at < NOTED_EVERY_S) continue;
    Sessions(platform.mongo)
      .updateOne(
        { _id, last_used_at },
        { $set: { last_used_at: now, expires_at: expiryOf({ ...session, last_used_at: now }) } },
      )
      .catch(() => undefined);
  }
}
