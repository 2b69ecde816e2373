import { createHash } from "node:crypto";
import { recordOfOperator, recordOwnAction } from "../../audit/record.ts";
import { notFound } from "../../lib/errors.ts";
import { isSecretOf, newId, newSecret } from "../../lib/ids.ts";
import { unixSeconds } from "../../lib/time.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { type Session, Sessions } from "../../models/session.ts";
import { Users } from "../../models/user.ts";
import type { Stores } from "../../platform.ts";
import { type Page, type PageRequest, pageOf } from "../../store/page.ts";
import { revokeProviderKeys } from "../api-keys.ts";

const newSessionToken = (): string => newSecret("hws");
/** Returns true if a text has the form of a session's token; any other is unknown without a look-up. */
export const isSessionToken = (text: string): boolean => isSecretOf("hws", text);

export const newLinkToken = (): string => newSecret("hwl");
export const isLinkToken = (text: string): boolean => isSecretOf("hwl", text);

/** Returns the hash of a token, as it is stored. */
export const hashOfToken = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Returns how long a session lives, however much it is used: less if an OpenID provider vouched for its user. */
export const lifeOf = ({ key_id }: Pick<Session, "key_id">): number =>
  (key_id === null ? LIMITS.providerSessionMs : LIMITS.sessionMs).value;

/**
 * Returns when a session ends: some time after its last use, but never long after its start (docs/limits.md), and with its key at the
 * latest.
 */
export function expiryOf(
  session: Pick<Session, "created_at" | "last_used_at" | "key_id" | "key_expires_at">,
): Date {
  const idle = session.last_used_at * 1000 + LIMITS.sessionIdleMs.value;
  const keyEnds = (session.key_expires_at ?? Number.POSITIVE_INFINITY) * 1000;
  return new Date(Math.min(idle, session.created_at * 1000 + lifeOf(session), keyEnds));
}

const MAX_USER_AGENT_CHARS = 200;

interface NewSession {
  userId: string;
  keyId: string | null;
  /** Unix seconds; absent if the key does not expire. */
  keyExpiresAt?: number | undefined;
  userAgent: string;
}

/**
 * Starts a session and returns it with its token, which can't be shown again. A user with `LIMITS.sessions` sessions loses
 * the oldest one. `keyId` is the API key with which it ends; null if an OpenID provider vouched for the user.
 */
export async function startSession(
  platform: Stores,
  { userId, keyId, keyExpiresAt, userAgent }: NewSession,
): Promise<{ session: Session; token: string }> {
  const token = newSessionToken();
  const now = unixSeconds(platform.clock());
  const times = {
    created_at: now,
    last_used_at: now,
    ...(keyExpiresAt !== undefined && { key_expires_at: keyExpiresAt }),
  };
  const session: Session = {
    _id: newId("ses", platform.clock()),
    hash: hashOfToken(token),
    user_id: userId,
    key_id: keyId,
    user_agent: userAgent.slice(0, MAX_USER_AGENT_CHARS),
    ...times,
    expires_at: expiryOf({ ...times, key_id: keyId }),
  };
  await Sessions(platform.mongo).insertOne(session);
  await endOldest(platform, userId);
  return { session, token };
}

async function endOldest(platform: Stores, userId: string): Promise<void> {
  const oldest = await Sessions(platform.mongo)
    .find({ user_id: userId }, { _id: 1 })
    .sort({ _id: -1 })
    .skip(LIMITS.sessions.value)
    .limit(LIMITS.sessions.value)
    .lean();
  if (oldest.length === 0) return;
  await Sessions(platform.mongo).deleteMany({ _id: { $in: oldest.map(({ _id }) => _id) } });
  await platform.routing.invalidate([userId]);
  for (const { _id: id } of oldest) {
    const ended = { ownerId: userId, action: "session.ended", thing: { id, name: null } };
    await recordOwnAction(platform, { ...ended, reason: "the user has as many newer ones as may be" });
  }
}

const live = (platform: Stores) => ({ expires_at: { $gt: new Date(platform.clock()) } });

/** Returns a page of a user's sessions, newest first. */
export function listSessions(platform: Stores, userId: string, page: PageRequest): Promise<Page<Session>> {
  return pageOf(Sessions(platform.mongo), { user_id: userId, ...live(platform) }, page);
}

/** Returns a session of one of these users, otherwise null. */
async function findSession(platform: Stores, id: string, owners: string[]): Promise<Session | null> {
  return await Sessions(platform.mongo)
    .findOne({ _id: id, user_id: { $in: owners }, ...live(platform) })
    .lean<Session | null>();
}

/** The access rule of routes whose path names a session. */
export const ownSession = { kind: "resource", what: "session", load: findSession } as const;

/** Ends a session: it is rejected from the next request on. */
export async function endSession(
  platform: Stores,
  { _id, user_id }: Pick<Session, "_id" | "user_id">,
): Promise<void> {
  await Sessions(platform.mongo).deleteOne({ _id });
  await platform.routing.invalidate([user_id]);
}

/**
 * For the operator: ends every session of a user from the next request on, and revokes the API keys that end with the provider's word.
 * Returns how many there were. Throws `not-found`.
 */
export async function endAllSessions(
  platform: Stores,
  userId: string,
): Promise<{ id: string; ended_sessions: number; revoked_keys: number }> {
  if (!(await Users(platform.mongo).exists({ _id: userId }))) throw notFound("user");
  const { deletedCount } = await Sessions(platform.mongo).deleteMany({ user_id: userId });
  const revoked = await revokeProviderKeys(platform, userId);
  await platform.routing.invalidate([userId]);
  const thing = { id: userId, name: null };
  await recordOfOperator(platform, { action: "user.signed_out", thing, of: [userId] });
  return { id: userId, ended_sessions: deletedCount, revoked_keys: revoked };
}
