import { AppError, invalidField, notFound } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { Memberships, Organizations } from "../models/organization.ts";
import { ApiKeys, type User, Users } from "../models/user.ts";
import type { Platform } from "../platform.ts";
import { orConflict, transaction } from "../store/mongo.ts";
import { hashOf, newApiKey } from "./api-keys.ts";

type Deps = Pick<Platform, "mongo" | "clock">;

const seconds = (ms: number) => Math.floor(ms / 1000);

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
export async function createUser(platform: Deps, user: NewUser): Promise<{ id: string; api_key: string }> {
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

export async function existingUser(platform: Deps, userId: string): Promise<User> {
  const user = await Users(platform.mongo).findById(userId).lean();
  if (!user) throw notFound("user");
  return user;
}

/** The user's record with its organizations. Throws `not-found`. */
export async function readUser(platform: Deps, userId: string) {
  const user = await existingUser(platform, userId);
  const memberships = await Memberships(platform.mongo).find({ user_id: userId }).lean();
  const orgs = await Organizations(platform.mongo)
    .find({ _id: { $in: memberships.map(membership => membership.org_id) } })
    .sort({ _id: 1 })
    .lean();
  return { user, orgs };
}

/** The plan of an account: an organization has its owner's. */
export async function planOf(platform: Deps, ownerId: string): Promise<User["plan"]> {
  const organization = ownerId.startsWith("o_")
    ? await Organizations(platform.mongo).findById(ownerId, { owner_id: 1 }).lean()
    : null;
  const user = await Users(platform.mongo)
    .findById(organization?.owner_id ?? ownerId, { plan: 1 })
    .lean();
  if (!user) throw new AppError("not-found", "account not found");
  return user.plan;
}
