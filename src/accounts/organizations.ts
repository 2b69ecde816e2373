import { AppError, invalidField, notFound } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { groupBy } from "../lib/lists.ts";
import { unixSeconds } from "../lib/time.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { Memberships, Organizations } from "../models/organization.ts";
import { Users } from "../models/user.ts";
import type { Stores } from "../platform.ts";
import { isDuplicateKey, transaction } from "../store/connections/mongo.ts";

const slug = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");

const MAX_NAME_CHARS = 128;

/**
 * Creates an organization with its owner as the first member. Throws `invalid` for the name, `not-found` for the owner.
 */
export async function createOrganization(
  platform: Stores,
  { name, ownerId }: { name: string; ownerId: string },
): Promise<{ id: string }> {
  if (name.trim() === "" || name.length > MAX_NAME_CHARS) {
    throw invalidField("body", "name", `must have 1 to ${MAX_NAME_CHARS} characters`);
  }
  const owner = await Users(platform.mongo).findById(ownerId).lean();
  if (!owner) throw notFound("owner");
  const id = newId("o", platform.clock());
  const created_at = unixSeconds(platform.clock());
  const orgname = `${slug(name) || "org"}-${id.slice(-6).toLowerCase()}`;
  await transaction(platform.mongo, async session => {
    await Organizations(platform.mongo).insertOne(
      { _id: id, name, orgname, email: owner.email, owner_id: ownerId, created_at },
      { session },
    );
    await Memberships(platform.mongo).insertOne(
      { _id: `${id}-${ownerId}`, org_id: id, user_id: ownerId, created_at },
      { session },
    );
  });
  await platform.routing.invalidate([ownerId]);
  return { id };
}

/** Adds a user to an organization; no effect if the user is already a member. Throws `not-found` for either. */
export async function addMember(
  platform: Stores,
  orgId: string,
  userId: string,
): Promise<{ id: string; user_id: string }> {
  const [org, user] = await Promise.all([
    Organizations(platform.mongo).exists({ _id: orgId }),
    Users(platform.mongo).exists({ _id: userId }),
  ]);
  if (!org) throw notFound("organization");
  if (!user) throw notFound("user");
  try {
    await Memberships(platform.mongo).insertOne({
      _id: `${orgId}-${userId}`,
      org_id: orgId,
      user_id: userId,
      created_at: unixSeconds(platform.clock()),
    });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  await platform.routing.invalidate([orgId, userId]);
  return { id: orgId, user_id: userId };
}

export interface Member {
  id: string;
  username: string;
  email: string;
  is_owner: boolean;
  /** Unix seconds: since when. */
  created_at: number;
}

async function ownerOf({ mongo }: Stores, orgId: string): Promise<string | undefined> {
  return (await Organizations(mongo).findById(orgId, { owner_id: 1 }).lean())?.owner_id;
}

/** Throws `forbidden` for a member of the organization who does not own it. */
export async function requireOrganizationOwner(
  platform: Stores,
  orgId: string,
  userId: string,
): Promise<void> {
  if ((await ownerOf(platform, orgId)) === userId) return;
  throw new AppError("forbidden", "only the owner of the organization may do this");
}

/** Returns the members of an organization, in the order of their ids; beyond `LIMITS.members` they are left out. */
export async function listMembers(platform: Stores, orgId: string): Promise<Member[]> {
  const memberships = await Memberships(platform.mongo)
    .find({ org_id: orgId })
    .sort({ _id: 1 })
    .limit(LIMITS.members.value)
    .lean();
  const [users, owner] = await Promise.all([
    Users(platform.mongo)
      .find({ _id: { $in: memberships.map(({ user_id }) => user_id) } }, { username: 1, email: 1 })
      .lean(),
    ownerOf(platform, orgId),
  ]);
  const byId = new Map(users.map(user => [user._id, user]));
  return memberships.flatMap(({ user_id, created_at }) => {
    const user = byId.get(user_id);
    if (!user) return [];
    const { username, email } = user;
    return [{ id: user_id, username, email, is_owner: user_id === owner, created_at }];
  });
}

/**
 * Ends a membership: that of `callerId`, or of another user by the owner. Throws `not-found` for no member, `forbidden`
 * for others than the owner, and `conflict` for the owner's own membership.
 */
export async function removeMember(
  platform: Stores,
  { orgId, userId, callerId }: { orgId: string; userId: string; callerId: string },
): Promise<void> {
  if (userId !== callerId) await requireOrganizationOwner(platform, orgId, callerId);
  if ((await ownerOf(platform, orgId)) === userId) {
    throw new AppError("conflict", "the owner of an organization can't leave it");
  }
  const { deletedCount } = await Memberships(platform.mongo).deleteOne({ _id: `${orgId}-${userId}` });
  if (deletedCount === 0) throw notFound("member");
  await platform.routing.invalidate([orgId, userId]);
}

/** Returns a function that returns the organizations of one of these users. */
export async function organizationsOf(
  platform: Stores,
  userIds: string[],
): Promise<(userId: string) => string[]> {
  if (userIds.length === 0) return () => [];
  const memberships = await Memberships(platform.mongo)
    .find({ user_id: { $in: userIds } })
    .lean();
  const byUser = groupBy(memberships, membership => membership.user_id);
  return userId => (byUser.get(userId) ?? []).map(membership => membership.org_id);
}

/** Returns those of these accounts that exist, users and organizations, each as its own owner. */
export async function findAccounts(
  { mongo }: Stores,
  ids: string[],
): Promise<{ _id: string; owner_id: string }[]> {
  const among = { _id: { $in: ids } };
  const found = await Promise.all([
    Users(mongo).find(among, { _id: 1 }).lean(),
    Organizations(mongo).find(among, { _id: 1 }).lean(),
  ]);
  return found.flat().map(({ _id }) => ({ _id, owner_id: _id }));
}
