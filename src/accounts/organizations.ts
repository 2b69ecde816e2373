import { invalidField, notFound } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { groupBy } from "../lib/lists.ts";
import type { Role } from "../lib/roles.ts";
import { slugOf } from "../lib/slug.ts";
import { unixSeconds } from "../lib/time.ts";
import { LIMITS } from "../limits/catalogue.ts";
import {
  type Membership,
  Memberships,
  membershipId,
  type Organization,
  Organizations,
} from "../models/organization.ts";
import { Users } from "../models/user.ts";
import type { Stores } from "../platform.ts";
import { isDuplicateKey, transaction } from "../store/connections/mongo.ts";
import { checkCount } from "./limits.ts";
import { changeMembers, type MemberChange, ownersOf, requireOwner, roleOf } from "./roles.ts";

export const MAX_NAME_CHARS = 128;

function checkName(name: string): void {
  if (name.trim() !== "" && name.length <= MAX_NAME_CHARS) return;
  throw invalidField("body", "name", `must have 1 to ${MAX_NAME_CHARS} characters`);
}

interface NewOrganization {
  name: string;
  ownerId: string;
  /** The user whose plan bounds how many there are; none for those that an operator makes. */
  createdBy?: string;
}

/**
 * Creates an organization with its owner as the first member. Throws `invalid` for the name, `not-found` for the owner, and
 * `limit-reached` if `createdBy` has as many as its plan allows.
 */
export async function createOrganization(
  platform: Stores,
  { name, ownerId, createdBy }: NewOrganization,
): Promise<Organization & { id: string }> {
  checkName(name);
  const owner = await Users(platform.mongo).findById(ownerId).lean();
  if (!owner) throw notFound("owner");
  if (createdBy !== undefined) await checkCount(platform, createdBy, "organizations");
  const id = newId("o", platform.clock());
  const created_at = unixSeconds(platform.clock());
  const orgname = `${slugOf(name, "org")}-${id.slice(-6).toLowerCase()}`;
  const organization: Organization = {
    ...{ _id: id, name, orgname, email: owner.email, owner_id: ownerId, created_at },
    ...(createdBy !== undefined && { created_by: createdBy }),
  };
  await transaction(platform.mongo, async session => {
    await Organizations(platform.mongo).insertOne(organization, { session });
    await Memberships(platform.mongo).insertOne(
      { _id: membershipId(id, ownerId), org_id: id, user_id: ownerId, role: "owner", created_at },
      { session },
    );
  });
  await platform.routing.invalidate([ownerId]);
  return { ...organization, id };
}

/** Renames an organization and returns it; its `orgname` stays. Throws `invalid` for the name, and `not-found`. */
export async function renameOrganization(
  platform: Stores,
  orgId: string,
  name: string,
): Promise<Organization> {
  checkName(name);
  const renamed = await Organizations(platform.mongo)
    .findOneAndUpdate({ _id: orgId }, { $set: { name } }, { returnDocument: "after" })
    .lean<Organization | null>();
  if (!renamed) throw notFound("organization");
  return renamed;
}

/**
 * Adds a user to an organization, as a member unless `role` says otherwise; no effect, and not `isNew`, if the user is already in it.
 * Throws `not-found` for either.
 */
export async function addMember(
  platform: Stores,
  orgId: string,
  userId: string,
  role: Role = "member",
): Promise<{ id: string; user_id: string; isNew: boolean }> {
  const [org, user] = await Promise.all([
    Organizations(platform.mongo).exists({ _id: orgId }),
    Users(platform.mongo).exists({ _id: userId }),
  ]);
  if (!org) throw notFound("organization");
  if (!user) throw notFound("user");
  let isNew = true;
  try {
    await Memberships(platform.mongo).insertOne({
      ...{ _id: membershipId(orgId, userId), org_id: orgId, user_id: userId, role },
      created_at: unixSeconds(platform.clock()),
    });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    isNew = false;
  }
  await platform.routing.invalidate([orgId, userId]);
  return { id: orgId, user_id: userId, isNew };
}

/** A member of an organization, as other members see it. */
export interface Member {
  id: string;
  username: string;
  email: string;
  role: Role;
  is_owner: boolean;
  /** Unix seconds: since when. */
  created_at: number;
}

/** Returns one member of an organization. Throws `not-found`. */
export async function readMember(platform: Stores, orgId: string, userId: string): Promise<Member> {
  const row = await Memberships(platform.mongo).findById(membershipId(orgId, userId)).lean();
  const [member] = row ? await membersOf(platform, orgId, [row]) : [];
  if (!member) throw notFound("member");
  return member;
}

/** Returns the members of an organization, in the order of their ids; beyond `LIMITS.members` they are left out. */
export async function listMembers(platform: Stores, orgId: string): Promise<Member[]> {
  const rows = await Memberships(platform.mongo)
    .find({ org_id: orgId })
    .sort({ _id: 1 })
    .limit(LIMITS.members.value)
    .lean();
  return await membersOf(platform, orgId, rows);
}

async function membersOf(platform: Stores, orgId: string, rows: Membership[]): Promise<Member[]> {
  const [users, ownerOf] = await Promise.all([
    Users(platform.mongo)
      .find({ _id: { $in: rows.map(({ user_id }) => user_id) } }, { username: 1, email: 1 })
      .lean(),
    ownersOf(platform, [orgId]),
  ]);
  const byId = new Map(users.map(user => [user._id, user]));
  return rows.flatMap(row => {
    const user = byId.get(row.user_id);
    if (!user) return [];
    const role = roleOf(row, ownerOf(orgId));
    const { username, email } = user;
    return [
      { id: row.user_id, username, email, role, is_owner: role === "owner", created_at: row.created_at },
    ];
  });
}

/**
 * Ends a membership: that of the caller, or of another user by an owner. Throws `not-found` for no member, `forbidden` for
 * others than owners, and `conflict` if the organization had no owner then.
 */
export async function removeMember(
  platform: Stores,
  { orgId, userId, callerId }: MemberChange,
): Promise<void> {
  await changeMembers(platform, orgId, async session => {
    if (userId !== callerId) await requireOwner(platform, { orgId, callerId }, session);
    const { deletedCount } = await Memberships(platform.mongo).deleteOne(
      { _id: membershipId(orgId, userId) },
      { session },
    );
    if (deletedCount === 0) throw notFound("member");
  });
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
