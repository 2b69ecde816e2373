import { createHash } from "node:crypto";
import type { Caller } from "../http/route.ts";
import { createBatcher } from "../lib/batcher.ts";
import { notFound } from "../lib/errors.ts";
import { groupBy } from "../lib/group-by.ts";
import { newId, newToken } from "../lib/ids.ts";
import { unixSeconds } from "../lib/unix-seconds.ts";
import { Memberships } from "../models/organization.ts";
import { ApiKeys, Users } from "../models/user.ts";
import type { Platform } from "../platform.ts";
import { canAccess } from "./access.ts";

type Deps = Pick<Platform, "mongo" | "clock">;

/** Returns a new random API key. `hw_` lets secret scanners tell our keys from other random text. */
export const newApiKey = () => `hw_${newToken()}`;

/** Returns the hash of an API key, as it is stored (docs/design.md#stores). */
export const hashOf = (apiKey: string) => createHash("sha256").update(apiKey).digest("hex");

/** Creates another API key for a user and returns it; it can never be shown again. Throws `not-found` for the user. */
export async function createApiKey(platform: Deps, userId: string): Promise<{ id: string; api_key: string }> {
  if (!(await Users(platform.mongo).exists({ _id: userId }))) throw notFound("user");
  const id = newId("key", platform.clock());
  const apiKey = newApiKey();
  await ApiKeys(platform.mongo).insertOne({
    _id: id,
    user_id: userId,
    hash: hashOf(apiKey),
    created_at: unixSeconds(platform.clock()),
    revoked_at: null,
  });
  return { id, api_key: apiKey };
}

/** Returns the ids and times of a user's API keys, newest first. Throws `not-found` for the user. */
export async function listApiKeys(platform: Deps, userId: string) {
  if (!(await Users(platform.mongo).exists({ _id: userId }))) throw notFound("user");
  const keys = await ApiKeys(platform.mongo).find({ user_id: userId }).sort({ _id: -1 }).lean();
  return keys.map(({ _id, created_at, revoked_at }) => ({ id: _id, created_at, revoked_at }));
}

/**
 * Revokes an API key from now on; revoking it again keeps the first time. Returns the time in Unix seconds. Throws
 * `not-found` for the key.
 */
export async function revokeApiKey(
  platform: Deps & Pick<Platform, "routing">,
  keyId: string,
): Promise<{ id: string; revoked_at: number }> {
  const revoked_at = unixSeconds(platform.clock());
  const found = await ApiKeys(platform.mongo).findOneAndUpdate(
    { _id: keyId },
    [{ $set: { revoked_at: { $ifNull: ["$revoked_at", revoked_at] } } }],
    { returnDocument: "after", updatePipeline: true },
  );
  if (!found) throw notFound("key");
  await platform.routing.invalidate([found.user_id]);
  return { id: keyId, revoked_at: found.revoked_at ?? revoked_at };
}

/** Returns true if a text has the shape of an API key; any other is unknown without a look-up. */
export const isApiKey = (text: string): boolean => /^hw_[0-9A-Za-z]{32}$/.test(text);

/** Look-ups of keys that arrive at the same time share two queries. */
const BATCH = { maxWeight: 100, concurrency: 4 };
/** Requests that arrive at the same time share the question whether the routing cache is current. */
const REFRESH = { maxWeight: 1000, concurrency: 8 };

/**
 * Returns `findCaller` for many requests at once: however many keys are looked up, MongoDB has a few queries at a time. A
 * caller is kept in the routing cache, whose version each request reads: a revocation, or a new membership, holds for the
 * next request, and MongoDB is asked again only after a change. While Redis is away each request asks MongoDB.
 */
export function openFindCaller(
  platform: Deps & Pick<Platform, "routing">,
): (apiKey: string) => Promise<Caller | null> {
  const find = createBatcher((hashes: string[]) => findCallers(platform, hashes), BATCH);
  const refresh = createBatcher(async (_: string[]) => void (await platform.routing.refresh()), REFRESH);
  const findMissing = async ([hash = ""]: string[]) => {
    const caller = await find(hash);
    return new Map(caller ? [[hash, caller]] : []);
  };
  return async apiKey => {
    if (!isApiKey(apiKey)) return null;
    const hash = hashOf(apiKey);
    const isCurrent = await refresh(hash).then(
      () => true,
      () => false,
    );
    if (!isCurrent) return await find(hash);
    const found = await platform.routing.lookUp("caller", [hash], findMissing, ({ userId }) => [userId]);
    return found.get(hash) ?? null;
  };
}

/** Returns the user of an API key with the user's organizations; null for an unknown or revoked key. */
export async function findCaller(platform: Deps, apiKey: string): Promise<Caller | null> {
  const [caller = null] = await findCallers(platform, [hashOf(apiKey)]);
  return caller;
}

async function findCallers(platform: Deps, hashes: string[]): Promise<(Caller | null)[]> {
  const keys = await ApiKeys(platform.mongo)
    .find({ hash: { $in: hashes }, revoked_at: null })
    .lean();
  const orgIds = await organizationsOf(platform, [...new Set(keys.map(key => key.user_id))]);
  const byHash = new Map(keys.map(key => [key.hash, key]));
  return hashes.map(hash => {
    const key = byHash.get(hash);
    return key ? { userId: key.user_id, keyId: key._id, orgIds: orgIds(key.user_id) } : null;
  });
}

/** Returns a function that returns the organizations of one of these users. */
async function organizationsOf(platform: Deps, userIds: string[]): Promise<(userId: string) => string[]> {
  if (userIds.length === 0) return () => [];
  const memberships = await Memberships(platform.mongo)
    .find({ user_id: { $in: userIds } })
    .lean();
  const byUser = groupBy(memberships, membership => membership.user_id);
  return userId => (byUser.get(userId) ?? []).map(membership => membership.org_id);
}

/** Why a key gives no access to an account's resources any more. */
export type AccessLost = "key-revoked" | "access-lost";

/** Returns why the key gives no access to what an account owns; null if it does. */
export async function accessLost(platform: Deps, keyId: string, ownerId: string): Promise<AccessLost | null> {
  const key = await ApiKeys(platform.mongo).findOne({ _id: keyId, revoked_at: null }).lean();
  if (!key) return "key-revoked";
  return (await canAccess(platform, key.user_id, ownerId)) ? null : "access-lost";
}
