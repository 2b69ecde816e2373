import type { ClientSession } from "mongoose";
import { AppError, notFound } from "../lib/errors.ts";
import { groupBy } from "../lib/lists.ts";
import { needsRole, type Role } from "../lib/roles.ts";
import {
  type Membership,
  Memberships,
  membershipId,
  type Organization,
  Organizations,
} from "../models/organization.ts";
import type { Stores } from "../platform.ts";
import { transaction } from "../store/connections/mongo.ts";

/** A row of a release before roles has none: there was one owner, and everybody else did what members do. */
export const roleOf = ({ role, user_id }: Membership, ownerId: string | undefined): Role =>
  role ?? (user_id === ownerId ? "owner" : "member");

/** Returns a function that returns the roles of one of these users, by organization. */
export async function rolesOf(
  platform: Stores,
  userIds: string[],
): Promise<(userId: string) => Record<string, Role>> {
  if (userIds.length === 0) return () => ({});
  const memberships = await Memberships(platform.mongo)
    .find({ user_id: { $in: userIds } })
    .lean();
  const ofBefore = memberships.filter(({ role }) => role === undefined).map(({ org_id }) => org_id);
  const ownerOf = await ownersOf(platform, ofBefore);
  const byUser = groupBy(memberships, ({ user_id }) => user_id);
  return userId =>
    Object.fromEntries((byUser.get(userId) ?? []).map(row => [row.org_id, roleOf(row, ownerOf(row.org_id))]));
}

/** Returns a function that returns the `owner_id` of one of these organizations. */
export async function ownersOf(
  { mongo }: Stores,
  orgIds: string[],
): Promise<(orgId: string) => string | undefined> {
  if (orgIds.length === 0) return () => undefined;
  const found = await Organizations(mongo)
    .find({ _id: { $in: orgIds } }, { owner_id: 1 })
    .lean();
  const owners = new Map(found.map(({ _id, owner_id }) => [_id, owner_id]));
  return orgId => owners.get(orgId);
}

/** A change of one membership, by whom: null for the operator, who may change each. */
export interface MemberChange {
  orgId: string;
  userId: string;
  callerId: string | null;
}

/**
 * Gives a member another role, by an owner or the operator. Throws `not-found` for no member, `forbidden` for a caller who
 * no longer owns it, and `conflict` if the organization had none then.
 */
export async function setRole(
  platform: Stores,
  { orgId, userId, callerId, role }: MemberChange & { role: Role },
): Promise<{ id: string; user_id: string; role: Role }> {
  await changeMembers(platform, orgId, async session => {
    await requireOwner(platform, { orgId, callerId }, session);
    const { matchedCount } = await Memberships(platform.mongo).updateOne(
      { _id: membershipId(orgId, userId) },
      { $set: { role } },
      { session },
    );
    if (matchedCount === 0) throw notFound("member");
  });
  await platform.routing.invalidate([orgId, userId]);
  return { id: orgId, user_id: userId, role };
}

/**
 * Ends a membership that a rule gave and gives no longer, an owner's too: who may not sign in keeps nothing. An organization
 * that has no owner then is logged; the operator makes one (`headwater org set-role`). The caller invalidates the routing cache.
 */
export async function endByRule(
  platform: Stores,
  { _id, org_id }: Pick<Membership, "_id" | "org_id">,
): Promise<void> {
  const end = async (session: ClientSession) =>
    void (await Memberships(platform.mongo).deleteOne({ _id }, { session }));
  try {
    await changeMembers(platform, org_id, end);
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "unavailable") throw error;
    platform.log.warn({ org_id }, `OIDC_ALLOW ends the membership of the last owner: ${error.message}`);
    await Memberships(platform.mongo).deleteOne({ _id });
  }
}

/** Throws `forbidden` unless the caller is an owner, in the transaction that this is for. */
export async function requireOwner(
  { mongo }: Stores,
  { orgId, callerId }: Omit<MemberChange, "userId">,
  session: ClientSession,
): Promise<void> {
  if (callerId === null || (await isOwner(mongo, { orgId, userId: callerId }, session))) return;
  throw needsRole("owner");
}

/**
 * Changes roles and memberships in one step. If it leaves the organization without an owner, nothing is changed and `conflict`
 * is thrown. Changes of one organization at the same time come one after another: each writes its row, so that two owners
 * can't demote each other.
 */
export async function changeMembers(
  { mongo }: Stores,
  orgId: string,
  change: (session: ClientSession) => Promise<void>,
): Promise<void> {
  await transaction(mongo, async session => {
    const org = await Organizations(mongo)
      .findOneAndUpdate({ _id: orgId }, { $inc: { member_changes: 1 } }, { session })
      .lean<Organization | null>();
    if (!org) throw notFound("organization");
    const { owner_id } = org;
    // The only owner of an organization of a release before roles.
    await Memberships(mongo).updateOne(
      { _id: membershipId(orgId, owner_id), role: null },
      { $set: { role: "owner" } },
      { session },
    );
    const hadOwner = await isOwner(mongo, { orgId, userId: owner_id }, session);
    await change(session);
    if (await isOwner(mongo, { orgId, userId: owner_id }, session)) return;
    const next = await firstOwner(mongo, orgId, session);
    if (next === undefined && hadOwner) {
      throw new AppError("conflict", "an organization needs an owner: give another member this role first");
    }
    // It names an owner always: its plan is the organization's, and a release before roles knows no other.
    if (next !== undefined) {
      await Organizations(mongo).updateOne({ _id: orgId }, { $set: { owner_id: next } }, { session });
    }
  });
}

async function isOwner(
  mongo: Stores["mongo"],
  { orgId, userId }: { orgId: string; userId: string },
  session: ClientSession,
): Promise<boolean> {
  const row = await Memberships(mongo)
    .exists({ _id: membershipId(orgId, userId), role: "owner" })
    .session(session);
  return row !== null;
}

async function firstOwner(
  mongo: Stores["mongo"],
  orgId: string,
  session: ClientSession,
): Promise<string | undefined> {
  const row = await Memberships(mongo)
    .findOne({ org_id: orgId, role: "owner" }, { user_id: 1 })
    .sort({ _id: 1 })
    .session(session)
    .lean<Membership | null>();
  return row?.user_id;
}
