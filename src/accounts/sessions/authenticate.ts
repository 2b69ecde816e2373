import type { Caller } from "../../http/route.ts";
import { createBatcher } from "../../lib/batcher.ts";
import { AppError, invalidField } from "../../lib/errors.ts";
import { allowsAccess, keyExpired, needsAccess } from "../../lib/key-access.ts";
import { unixSeconds } from "../../lib/time.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { oauthRecordId } from "../../models/oauth-record.ts";
import { type Session, Sessions, type SignInLink, SignInLinks } from "../../models/session.ts";
import { ApiKeys } from "../../models/user.ts";
import type { Stores } from "../../platform.ts";
import { findTokenCallers, isAccessToken } from "../access-tokens.ts";
import {
  findCaller,
  findKeyCallers,
  hashOf,
  hashOfConnectorToken,
  isApiKey,
  isConnectorToken,
  stillValid,
} from "../api-keys.ts";
import { rolesOf } from "../roles.ts";
import { expiryOf, hashOfToken, isLinkToken, isSessionToken, newLinkToken } from "./sessions.ts";

/** Look-ups that arrive at the same time share two queries. */
const BATCH = { maxWeight: 100, concurrency: 4 };
/** Requests that arrive at the same time share the question whether the routing cache is current. */
const REFRESH = { maxWeight: 1000, concurrency: 8 };

/**
 * Returns what finds the caller of an API key, a connector URL, an access token or a session's token, by its form, for many requests at
 * once: however many are looked up, MongoDB has a few queries at a time. A caller is kept in the routing cache, whose version each request reads: a
 * revocation, the end of a session or a new membership holds for the next request, and MongoDB is asked again only after a
 * change, or after some seconds. While Redis is away each request asks MongoDB. Returns null for what is unknown, revoked
 * or has ended.
 */
export function openAuthenticate(platform: Stores): (credential: string) => Promise<Caller | null> {
  const refresh = createBatcher(async (_: string[]) => void (await platform.routing.refresh()), REFRESH);
  const cached = (kind: string, find: (platform: Stores, hashes: string[]) => Promise<(Caller | null)[]>) => {
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
  const ofToken = cached("oauth", findTokenCallers);
  const ofSession = cached("session", findSessionCallers);
  return async credential => {
    if (isApiKey(credential)) return await ofKey(hashOf(credential));
    if (isConnectorToken(credential)) return await ofKey(hashOfConnectorToken(credential));
    if (isSessionToken(credential)) return await ofSession(hashOfToken(credential));
    return isAccessToken(credential) ? await ofToken(oauthRecordId("AccessToken", credential)) : null;
  };
}

/** A session's last use is written at most this often. */
const NOTED_EVERY_S = 60;

/** Returns the users of sessions, by the hashes of their tokens; null for one that is unknown or has ended. */
async function findSessionCallers(platform: Stores, hashes: string[]): Promise<(Caller | null)[]> {
  const sessions = await liveSessions(platform, { hash: { $in: hashes } });
  noteUse(platform, sessions);
  const rolesOfUser = await rolesOf(platform, [...new Set(sessions.map(({ user_id }) => user_id))]);
  const byHash = new Map(sessions.map(session => [session.hash, session]));
  return hashes.map(hash => {
    const session = byHash.get(hash);
    return session ? callerOf(session, rolesOfUser(session.user_id)) : null;
  });
}

/** Returns who a session signs in. */
export const callerOf = (
  { _id, user_id, key_id, key_expires_at }: Pick<Session, "_id" | "user_id" | "key_id" | "key_expires_at">,
  roles: Caller["roles"] = {},
): Caller => ({
  ...{ userId: user_id, keyId: _id, sessionId: _id, orgIds: Object.keys(roles), roles },
  signedInWith: key_id === null ? "openid" : "api_key",
  ...(key_expires_at !== undefined && { endsAtMs: key_expires_at * 1000 }),
});

/** Returns the session with this id if it has not ended, otherwise null. */
export async function findLiveSession(platform: Stores, id: string): Promise<Session | null> {
  const [session = null] = await liveSessions(platform, { _id: { $in: [id] } });
  return session;
}

/** A session ends with its key, even if a process died between the revocation and the deletion of the key's sessions. */
async function liveSessions(
  platform: Stores,
  filter: { hash: { $in: string[] } } | { _id: { $in: string[] } },
): Promise<Session[]> {
  const now = new Date(platform.clock());
  const found = await Sessions(platform.mongo)
    .find({ ...filter, expires_at: { $gt: now } })
    .lean<Session[]>();
  const keyIds = found.flatMap(({ key_id }) => key_id ?? []);
  if (keyIds.length === 0) return found;
  const keys = await ApiKeys(platform.mongo)
    .find({ _id: { $in: keyIds }, ...stillValid(platform) }, { _id: 1 })
    .lean();
  const valid = new Set(keys.map(({ _id }) => _id));
  return found.filter(({ key_id }) => key_id === null || valid.has(key_id));
}

/** Not awaited: a request needs no record of itself. */
function noteUse(platform: Stores, sessions: Session[]): void {
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

export interface Proof {
  api_key?: string;
  link?: string;
}

/** Who signs in, and the API key that led to it. */
interface Proven {
  userId: string;
  keyId: string;
  /** Unix seconds; absent for a key that does not expire. */
  keyExpiresAt?: number;
}

function provenBy({ clock }: Stores, { userId, keyId, key, endsAtMs }: Caller): Proven {
  if (endsAtMs !== undefined && endsAtMs <= clock()) throw keyExpired(endsAtMs);
  if (key && !allowsAccess(key.access, "full")) throw needsAccess(key.access, "full");
  return { userId, keyId, ...(endsAtMs !== undefined && { keyExpiresAt: endsAtMs / 1000 }) };
}

/**
 * Returns the user that an API key or a one-time link proves, and the key. `countWrong` is called for a wrong proof, and throws if
 * there were too many. A right one is never held up by the guesses of others at its address: 190 random bits can't be guessed.
 * Throws `unauthenticated` for a wrong one and for a key that has expired, `forbidden` for a key that may not do everything, since a
 * session may, and `invalid` unless there is exactly one.
 */
export async function checkProof(
  platform: Stores,
  { api_key, link }: Proof,
  countWrong: () => Promise<void>,
): Promise<Proven> {
  if ((api_key === undefined) === (link === undefined)) {
    const message =
      link === undefined ? "is required, or a link instead of it" : "can't be combined with link";
    throw invalidField("body", "api_key", message);
  }
  if (api_key !== undefined) {
    const caller = isApiKey(api_key) ? await findCaller(platform, api_key) : null;
    if (caller) return provenBy(platform, caller);
    await countWrong();
    throw new AppError("unauthenticated", "the API key is unknown or revoked");
  }
  const redeemed = await redeemLink(platform, link ?? "");
  if (redeemed) return redeemed;
  await countWrong();
  throw new AppError("unauthenticated", "the link is unknown, expired or used already");
}

/**
 * Makes a link that signs in once as the user, within `LIMITS.signInLinkMs`. It replaces the user's earlier ones. Returns
 * its token, which the page receives in the fragment of the address: that is sent to no server and no log.
 */
export async function makeLink(
  platform: Stores,
  { userId, keyId }: { userId: string; keyId: string },
): Promise<{ token: string; expiresAtMs: number }> {
  const token = newLinkToken();
  const expiresAtMs = platform.clock() + LIMITS.signInLinkMs.value;
  await SignInLinks(platform.mongo).deleteMany({ user_id: userId });
  await SignInLinks(platform.mongo).insertOne({
    _id: hashOfToken(token),
    user_id: userId,
    key_id: keyId,
    expires_at: new Date(expiresAtMs),
  });
  return { token, expiresAtMs };
}

/** Uses a link up; returns null if it is unknown, used, expired, or its API key is not valid any more. */
async function redeemLink(platform: Stores, token: string): Promise<Proven | null> {
  if (!isLinkToken(token)) return null;
  const link = await SignInLinks(platform.mongo)
    .findOneAndDelete({ _id: hashOfToken(token) })
    .lean<SignInLink | null>();
  if (!link || link.expires_at.getTime() <= platform.clock()) return null;
  const key = await ApiKeys(platform.mongo)
    .findOne({ _id: link.key_id, ...stillValid(platform) })
    .lean();
  if (!key) return null;
  const { _id: keyId, user_id: userId, expires_at } = key;
  return { userId, keyId, ...(expires_at !== undefined && { keyExpiresAt: expires_at }) };
}
