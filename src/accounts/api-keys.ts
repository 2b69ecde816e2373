import { createHash } from "node:crypto";
import { notFound } from "../lib/errors.ts";
import { newId, newToken } from "../lib/ids.ts";
import { Memberships } from "../models/organization.ts";
import { ApiKeys, Users } from "../models/user.ts";
import type { Platform } from "../platform.ts";

type Deps = Pick<Platform, "mongo" | "clock">;

const seconds = (ms: number) => Math.floor(ms / 1000);

/** `hw_` lets secret scanners tell our keys from other random text. */
export const newApiKey = () => `hw_${newToken()}`;
export const hashOf = (apiKey: string) => createHash("sha256").update(apiKey).digest("hex");

/** Creates another API key of a user, shown this once. Throws `not-found`. */
export async function createApiKey(platform: Deps, userId: string): Promise<{ id: string; api_key: string }> {
  if (!(await Users(platform.mongo).exists({ _id: userId }))) throw notFound("user");
  const id = newId("key", platform.clock());
  const apiKey = newApiKey();
  await ApiKeys(platform.mongo).insertOne({
    _id: id,
    user_id: userId,
    hash: hashOf(apiKey),
    created_at: seconds(platform.clock()),
    revoked_at: null,
  });
  return { id, api_key: apiKey };
}

/** A user's keys, newest first, without the keys themselves. */
export async function listApiKeys(platform: Deps, userId: string) {
  if (!(await Users(platform.mongo).exists({ _id: userId }))) throw notFound("user");
  const keys = await ApiKeys(platform.mongo).find({ user_id: userId }).sort({ _id: -1 }).lean();
  return keys.map(({ _id, created_at, revoked_at }) => ({ id: _id, created_at, revoked_at }));
}

/** Ends a key at once. Throws `not-found`. */
export async function revokeApiKey(
  platform: Deps,
  keyId: string,
): Promise<{ id: string; revoked_at: number }> {
  const revoked_at = seconds(platform.clock());
  const found = await ApiKeys(platform.mongo).findOneAndUpdate(
    { _id: keyId },
    [{ $set: { revoked_at: { $ifNull: ["$revoked_at", revoked_at] } } }],
    { returnDocument: "after", updatePipeline: true },
  );
  if (!found) throw notFound("key");
  return { id: keyId, revoked_at: found.revoked_at ?? revoked_at };
}

/** Who a key belongs to and which organizations they are in; null for an unknown or revoked key. */
export async function findCaller(platform: Deps, apiKey: string) {
  const key = await ApiKeys(platform.mongo)
    .findOne({ hash: hashOf(apiKey), revoked_at: null })
    .lean();
  if (!key) return null;
  const memberships = await Memberships(platform.mongo).find({ user_id: key.user_id }).lean();
  return { userId: key.user_id, keyId: key._id, orgIds: memberships.map(membership => membership.org_id) };
}
