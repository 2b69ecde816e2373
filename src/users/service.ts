import { createHash } from "node:crypto";
import { AppError, invalidField, notFound } from "../errors.ts";
import { Memberships, Organizations } from "../organizations/model.ts";
import type { Platform } from "../platform.ts";
import { newId, newToken } from "../store/ids.ts";
import { orConflict, transaction } from "../store/mongo.ts";
import { ApiKeys, type User, Users } from "./model.ts";

type Stores = Pick<Platform, "mongo" | "clock">;

const seconds = (ms: number) => Math.floor(ms / 1000);

/** `hw_` lets secret scanners tell our keys from other random text. */
const newApiKey = () => `hw_${newToken()}`;
const hashOf = (apiKey: string) => createHash("sha256").update(apiKey).digest("hex");

export interface NewUser {
  email: string;
  username?: string | undefined;
  plan?: "free" | "paid" | undefined;
}

/** The longest address that mail can be sent to. */
const LONGEST_EMAIL = 254;

function checkUser({ email, username }: NewUser): void {
  if (!/^[^\s@]+@[^\s@]+$/.test(email) || email.length > LONGEST_EMAIL) {
    throw invalidField("body", "email", "must be an e-mail address");
  }
  if (username !== undefined && !/^[^\s\p{C}]{1,100}$/u.test(username)) {
    throw invalidField("body", "username", "must be 1 to 100 characters without blanks");
  }
}

/**
 * Creates a user and its first API key, which is shown this once. Throws `invalid` for a malformed e-mail address or
 * name, `conflict` when either is taken.
 */
export async function createUser(platform: Stores, user: NewUser): Promise<{ id: string; api_key: string }> {
  checkUser(user);
  const id = newId("u", platform.clock());
  // Spelled otherwise it is the same mailbox, and the same person.
  const email = user.email.toLowerCase();
  const username = user.username ?? `${email.split("@")[0]}-${id.slice(-4).toLowerCase()}`;
  const apiKey = newApiKey();
  const created_at = seconds(platform.clock());
  await orConflict(
    transaction(platform.mongo, async session => {
      await Users(platform.mongo).insertOne(
        { _id: id, email, username, plan: user.plan ?? "free", created_at },
        { session },
      );
      await ApiKeys(platform.mongo).insertOne(
        {
          _id: newId("key", platform.clock()),
          user_id: id,
          hash: hashOf(apiKey),
          created_at,
          revoked_at: null,
        },
        { session },
      );
    }),
    "a user with this e-mail address or username exists",
  );
  return { id, api_key: apiKey };
}

async function existingUser(platform: Stores, userId: string): Promise<User> {
  const user = await Users(platform.mongo).findById(userId).lean();
  if (!user) throw notFound("user");
  return user;
}

/** Creates another API key of a user, shown this once. Throws `not-found`. */
export async function createApiKey(
  platform: Stores,
  userId: string,
): Promise<{ id: string; api_key: string }> {
  await existingUser(platform, userId);
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
export async function listApiKeys(platform: Stores, userId: string) {
  await existingUser(platform, userId);
  const keys = await ApiKeys(platform.mongo).find({ user_id: userId }).sort({ _id: -1 }).lean();
  return keys.map(({ _id, created_at, revoked_at }) => ({ id: _id, created_at, revoked_at }));
}

/** Ends a key at once. Throws `not-found`. */
export async function revokeApiKey(
  platform: Stores,
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
export async function findCaller(platform: Stores, apiKey: string) {
  const key = await ApiKeys(platform.mongo)
    .findOne({ hash: hashOf(apiKey), revoked_at: null })
    .lean();
  if (!key) return null;
  const memberships = await Memberships(platform.mongo).find({ user_id: key.user_id }).lean();
  return { userId: key.user_id, keyId: key._id, orgIds: memberships.map(membership => membership.org_id) };
}

/** The user's record with its organizations. Throws `not-found`. */
export async function readUser(platform: Stores, userId: string) {
  const user = await existingUser(platform, userId);
  const memberships = await Memberships(platform.mongo).find({ user_id: userId }).lean();
  const orgs = await Organizations(platform.mongo)
    .find({ _id: { $in: memberships.map(membership => membership.org_id) } })
    .sort({ _id: 1 })
    .lean();
  return { user, orgs };
}

/** The plan of an account: an organization has its owner's. */
export async function planOf(platform: Stores, ownerId: string): Promise<User["plan"]> {
  const organization = ownerId.startsWith("o_")
    ? await Organizations(platform.mongo).findById(ownerId, { owner_id: 1 }).lean()
    : null;
  const user = await Users(platform.mongo)
    .findById(organization?.owner_id ?? ownerId, { plan: 1 })
    .lean();
  if (!user) throw new AppError("not-found", "account not found");
  return user.plan;
}
