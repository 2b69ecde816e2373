import { createHash } from "node:crypto";
import { notFound } from "../lib/errors.ts";
import { newId, newToken } from "../lib/ids.ts";
import { unixSeconds } from "../lib/unix-seconds.ts";
import { Memberships } from "../models/organization.ts";
import { ApiKeys, Users } from "../models/user.ts";
import type { Platform } from "../platform.ts";

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
  platform: Deps,
  keyId: string,
): Promise<{ id: string; revoked_at: number }> {
  const revoked_at = unixSeconds(platform.clock());
  const found = await ApiKeys(platform.mongo).findOneAndUpdate(
    { _id: keyId },
    [{ $set: { revoked_at: { $ifNull: ["$revoked_at", revoked_at] } } }],
    { returnDocument: "after", updatePipeline: true },
  );
  if (!found) throw notFound("key");
  return { id: keyId, revoked_at: found.revoked_at ?? revoked_at };
}

/** Returns the user of an API key with the user's organizations; null for an unknown or revoked key. */
export async function findCaller(platform: Deps, apiKey: string) {
  const key = await ApiKeys(platform.mongo)
    .findOne({ hash: hashOf(apiKey), revoked_at: null })
    .lean();
  if (!key) return null;
  const memberships = await Memberships(platform.mongo).find({ user_id: key.user_id }).lean();
  return { userId: key.user_id, keyId: key._id, orgIds: memberships.map(membership => membership.org_id) };
}
