import type { Caller } from "../../http/route.ts";
import { createBatcher } from "../../lib/batcher.ts";
import { unixSeconds } from "../../lib/time.ts";
import { type Session, Sessions } from "../../models/session.ts";
import { ApiKeys } from "../../models/user.ts";
import type { Platform } from "../../platform.ts";
import { findKeyCallers, hashOf, isApiKey } from "../api-keys.ts";
import { organizationsOf } from "../members.ts";
import { expiryOf, hashOfToken, isSessionToken } from "./sessions.ts";

type Deps = Pick<Platform, "mongo" | "clock" | "routing">;

/** Look-ups that arrive at the same time share two queries. */
const BATCH = { maxWeight: 100, concurrency: 4 };
/** Requests that arrive at the same time share the question whether the routing cache is current. */
const REFRESH = { maxWeight: 1000, concurrency: 8 };

/**
 * Returns what finds the caller of an API key or a session's token, for many requests at once: however many are looked up,
 * MongoDB has a few queries at a time. A caller is kept in the routing cache, whose version each request reads: a
 * revocation, the end of a session or a new membership holds for the next request, and MongoDB is asked again only after a
 * change, or after some seconds. While Redis is away each request asks MongoDB. Returns null for what is unknown, revoked
 * or has ended.
 */
export function openAuthenticate(platform: Deps): (credential: string) => Promise<Caller | null> {
  const refresh = createBatcher(async (_: string[]) => void (await platform.routing.refresh()), REFRESH);
  const cached = (kind: string, find: (platform: Deps, hashes: string[]) => Promise<(Caller | null)[]>) => {
    const findOne = createBatcher((hashes: string[]) => find(platform, hashes), BATCH);
    const findMissing = async ([hash = ""]: string[]) => {
      const caller = await findOne(hash);
      return new Map(caller ? [[hash, caller]] : []);
    };
    return async (hash: string) => {
      const isCurrent = await refresh(hash).then(
        () => true,
        () => false,
      );
      if (!isCurrent) return await findOne(hash);
      const found = await platform.routing.lookUp(kind, [hash], findMissing, ({ userId }) => [userId]);
      return found.get(hash) ?? null;
    };
  };
  const ofKey = cached("caller", findKeyCallers);
  const ofSession = cached("session", findSessionCallers);
  return async credential => {
    if (isApiKey(credential)) return await ofKey(hashOf(credential));
    return isSessionToken(credential) ? await ofSession(hashOfToken(credential)) : null;
  };
}

type CallersDeps = Pick<Platform, "mongo" | "clock">;

/** A session's last use is written at most this often. */
const NOTED_EVERY_S = 60;

/** Returns the users of sessions, by the hashes of their tokens; null for one that is unknown or has ended. */
async function findSessionCallers(platform: CallersDeps, hashes: string[]): Promise<(Caller | null)[]> {
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
export async function findLiveSession(platform: CallersDeps, id: string): Promise<Session | null> {
  const [session = null] = await liveSessions(platform, { _id: { $in: [id] } });
  return session;
}

/** A session ends with its key, even if a process died between the revocation and the deletion of the key's sessions. */
async function liveSessions(
  platform: CallersDeps,
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
function noteUse(platform: CallersDeps, sessions: Session[]): void {
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
