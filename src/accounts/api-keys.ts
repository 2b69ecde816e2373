import { createHash } from "node:crypto";
import { recordOwnAction } from "../audit/record.ts";
import type { Caller } from "../http/route.ts";
import { notFound } from "../lib/errors.ts";
import { newId, newToken } from "../lib/ids.ts";
import { unixSeconds } from "../lib/time.ts";
import { Sessions } from "../models/session.ts";
import { type ApiKey, ApiKeys, Users } from "../models/user.ts";
import type { Stores } from "../platform.ts";
import { rolesOf } from "./roles.ts";

/** A new random API key. `hw_` lets secret scanners tell our keys from other random text. */
const newApiKey = () => `hw_${newToken()}`;

/** Returns the hash of an API key, as it is stored (docs/design.md#stores). */
export const hashOf = (apiKey: string) => createHash("sha256").update(apiKey).digest("hex");

/** Characters of a key that lists show: enough to recognize it, while 28 unknown ones are left. */
const PREFIX_CHARS = 7;

/** How a key was made. */
export type KeyOrigin = Pick<ApiKey, "made_with" | "ends_with_provider">;

/** Returns a new API key of a user, as it is stored, and its text, which is not. Without an `origin` the operator makes it. */
export function newKey(
  platform: Stores,
  userId: string,
  name: string | null,
  origin: KeyOrigin = {},
): { key: ApiKey; apiKey: string } {
  const apiKey = newApiKey();
  const key: ApiKey = {
    _id: newId("key", platform.clock()),
    user_id: userId,
    hash: hashOf(apiKey),
    prefix: apiKey.slice(0, PREFIX_CHARS),
    name,
    ...origin,
    created_at: unixSeconds(platform.clock()),
    revoked_at: null,
  };
  return { key, apiKey };
}

/** For the operator: creates another API key for a user and returns it; it can never be shown again. Throws `not-found`. */
export async function createApiKey(
  platform: Stores,
  userId: string,
): Promise<{ id: string; api_key: string }> {
  if (!(await Users(platform.mongo).exists({ _id: userId }))) throw notFound("user");
  const { key, apiKey } = newKey(platform, userId, null);
  await ApiKeys(platform.mongo).insertOne(key);
  await recordOfOperator(platform, "api_key.created", key);
  return { id: key._id, api_key: apiKey };
}

const recordOfOperator = (
  platform: Stores,
  action: string,
  { _id: id, user_id: ownerId, name = null }: ApiKey,
) => recordOwnAction(platform, { by: "operator", ownerId, action, thing: { id, name } });

/** Returns a user's API keys with how and when each was made, newest first. Throws `not-found` for the user. */
export async function listApiKeys(platform: Stores, userId: string) {
  if (!(await Users(platform.mongo).exists({ _id: userId }))) throw notFound("user");
  const keys = await ApiKeys(platform.mongo).find({ user_id: userId }).sort({ _id: -1 }).lean();
  return keys.map(key => ({
    id: key._id,
    ...presentOrigin(key),
    created_at: key.created_at,
    revoked_at: key.revoked_at,
  }));
}

/** How a key was made, as lists show it. */
export const presentOrigin = ({ made_with, ends_with_provider }: KeyOrigin) => ({
  made_with: made_with ?? null,
  ends_with_provider: ends_with_provider ?? false,
});

/**
 * Revokes a user's keys that end with the provider's word, and ends the sessions that were started with them. Returns how many
 * keys there were. The caller invalidates the user's part of the routing cache.
 */
export async function revokeProviderKeys(platform: Stores, userId: string): Promise<number> {
  const keys = ApiKeys(platform.mongo);
  const ending = { user_id: userId, ends_with_provider: true as const };
  const revoked_at = unixSeconds(platform.clock());
  // In one step, so that a key that is being made is among them, or sees that what it was made with has ended.
  const { modifiedCount } = await keys.updateMany({ ...ending, revoked_at: null }, { $set: { revoked_at } });
  const ids = (await keys.find(ending, { _id: 1 }).lean()).map(({ _id }) => _id);
  await Sessions(platform.mongo).deleteMany({ key_id: { $in: ids } });
  return modifiedCount;
}

/**
 * Revokes an API key from now on, and ends the sessions that were started with it; revoking it again keeps the first time.
 * Returns the time in Unix seconds. Throws `not-found` for the key.
 */
export async function revokeApiKey(
  platform: Stores,
  keyId: string,
): Promise<{ id: string; revoked_at: number }> {
  const { revoked_at } = await revoke(platform, keyId);
  return { id: keyId, revoked_at };
}

/** As `revokeApiKey`, for the operator. */
export async function revokeAsOperator(
  platform: Stores,
  keyId: string,
): Promise<{ id: string; revoked_at: number }> {
  const key = await revoke(platform, keyId);
  await recordOfOperator(platform, "api_key.revoked", key);
  return { id: keyId, revoked_at: key.revoked_at };
}

async function revoke(platform: Stores, keyId: string): Promise<ApiKey & { revoked_at: number }> {
  const revoked_at = unixSeconds(platform.clock());
  const found = await ApiKeys(platform.mongo)
    .findOneAndUpdate({ _id: keyId }, [{ $set: { revoked_at: { $ifNull: ["$revoked_at", revoked_at] } } }], {
      returnDocument: "after",
      updatePipeline: true,
    })
    .lean<ApiKey | null>();
  if (!found) throw notFound("key");
  await Sessions(platform.mongo).deleteMany({ key_id: keyId });
  await platform.routing.invalidate([found.user_id]);
  return { ...found, revoked_at: found.revoked_at ?? revoked_at };
}

/** Returns true if a text has the shape of an API key; any other is unknown without a look-up. */
export const isApiKey = (text: string): boolean => /^hw_[0-9A-Za-z]{32}$/.test(text);

/** Returns the user of an API key with the user's organizations; null for an unknown or revoked key. */
export async function findCaller(platform: Stores, apiKey: string): Promise<Caller | null> {
  const [caller = null] = await findKeyCallers(platform, [hashOf(apiKey)]);
  return caller;
}

/** Returns the users of API keys, by the hashes of the keys; null for one that is unknown or revoked. */
export async function findKeyCallers(platform: Stores, hashes: string[]): Promise<(Caller | null)[]> {
  const keys = await ApiKeys(platform.mongo)
    .find({ hash: { $in: hashes }, revoked_at: null })
    .lean();
  noteUse(platform, keys);
  const rolesOfUser = await rolesOf(platform, [...new Set(keys.map(key => key.user_id))]);
  const byHash = new Map(keys.map(key => [key.hash, key]));
  return hashes.map(hash => {
    const key = byHash.get(hash);
    if (!key) return null;
    const { _id, user_id, name = null, prefix = null } = key;
    const roles = rolesOfUser(user_id);
    return { userId: user_id, keyId: _id, key: { name, prefix }, orgIds: Object.keys(roles), roles };
  });
}

/** The last use of a key is written at most this often. */
const NOTED_EVERY_S = 60;

/** Not awaited: a request needs no record of itself. */
function noteUse(platform: Stores, keys: ApiKey[]): void {
  const now = unixSeconds(platform.clock());
  for (const { _id, last_used_at = 0 } of keys) {
    if (now - last_used_at < NOTED_EVERY_S) continue;
    ApiKeys(platform.mongo)
      .updateOne({ _id }, { $set: { last_used_at: now } })
      .catch(() => undefined);
  }
}
