import { AppError, invalidField, notFound } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/time.ts";
import { Memberships, Organizations } from "../models/organization.ts";
import { ApiKeys, type User, Users } from "../models/user.ts";
import type { Stores } from "../platform.ts";
import { orConflict, transaction } from "../store/connections/mongo.ts";
import { newKey } from "./api-keys.ts";
import { roleOf } from "./roles.ts";

export interface NewUser {
  email: string;
  username?: string | undefined;
  plan?: "free" | "paid" | undefined;
}

/** The longest address that SMTP can deliver to. */
const MAX_EMAIL_CHARS = 254;

function checkUser({ email, username }: NewUser): void {
  if (!/^[^\s@]+@[^\s@]+$/.test(email) || email.length > MAX_EMAIL_CHARS) {
    throw invalidField("body", "email", "must be an email address");
  }
  if (username !== undefined && !/^[^\s\p{C}]{1,100}$/u.test(username)) {
    throw invalidField("body", "username", "must have 1 to 100 characters and no spaces");
  }
}

/** Returns a new user as it is stored. Throws `invalid` for a malformed email address or username. */
export function newUser(platform: Stores, user: NewUser): User {
  checkUser(user);
  const id = newId("u", platform.clock());
  // Addresses that differ only in case are the same mailbox.
  const email = user.email.toLowerCase();
  const username = user.username ?? `${email.split("@")[0]}-${id.slice(-4).toLowerCase()}`;
  const created_at = unixSeconds(platform.clock());
  return { _id: id, email, username, plan: user.plan ?? "free", created_at };
}

/**
 * Stores a new user and returns it with its first API key, which can never be shown again. Throws `invalid` for a malformed
 * email address or username, `conflict` if either is already in use.
 */
export async function storeUser(platform: Stores, given: NewUser): Promise<{ user: User; apiKey: string }> {
  const user = newUser(platform, given);
  const { key, apiKey } = newKey(platform, user._id, null);
  await orConflict(
    transaction(platform.mongo, async session => {
      await Users(platform.mongo).insertOne(user, { session });
      await ApiKeys(platform.mongo).insertOne(key, { session });
    }),
    "a user with this email address or username already exists",
  );
  return { user, apiKey };
}

/** As `storeUser`, for the command line, which prints what it returns. */
export async function createUser(platform: Stores, given: NewUser): Promise<{ id: string; api_key: string }> {
  const { user, apiKey } = await storeUser(platform, given);
  return { id: user._id, api_key: apiKey };
}

/** Throws `not-found`. */
async function existingUser(platform: Stores, userId: string): Promise<User> {
  const user = await Users(platform.mongo).findById(userId).lean();
  if (!user) throw notFound("user");
  return user;
}

/** Returns a user with the organizations it is a member of. Throws `not-found`. */
export async function readUser(platform: Stores, userId: string) {
  const user = await existingUser(platform, userId);
  const memberships = await Memberships(platform.mongo).find({ user_id: userId }).lean();
  const byOrg = new Map(memberships.map(membership => [membership.org_id, membership]));
  const found = await Organizations(platform.mongo)
    .find({ _id: { $in: [...byOrg.keys()] } })
    .sort({ _id: 1 })
    .lean();
  const orgs = found.flatMap(organization => {
    const membership = byOrg.get(organization._id);
    return membership ? [{ ...organization, role: roleOf(membership, organization.owner_id) }] : [];
  });
  return { user, orgs };
}

/** Returns the plan of an account; an organization has the plan of its owner. Throws `not-found`. */
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
