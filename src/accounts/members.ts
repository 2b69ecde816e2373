import { AppError, notFound } from "../lib/errors.ts";
import { groupBy } from "../lib/lists.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { Memberships, Organizations } from "../models/organization.ts";
import { Users } from "../models/user.ts";
import type { Platform } from "../platform.ts";

type Deps = Pick<Platform, "mongo" | "routing">;

export interface Member {
  id: string;
  username: string;
  email: string;
  is_owner: boolean;
  /** Unix seconds: since when. */
  created_at: number;
}

async function ownerOf({ mongo }: Pick<Deps, "mongo">, orgId: string): Promise<string | undefined> {
  return (await Organizations(mongo).findById(orgId, { owner_id: 1 }).lean())?.owner_id;
}

/** Throws `forbidden` for a member of the organization who does not own it. */
export async function requireOrganizationOwner(
  platform: Pick<Deps, "mongo">,
  orgId: string,
  userId: string,
): Promise<void> {
  if ((await ownerOf(platform, orgId)) === userId) return;
  throw new AppError("forbidden", "only the owner of the organization may do this");
}

/** Returns the members of an organization, in the order of their ids; beyond `LIMITS.members` they are left out. */
export async function listMembers(platform: Pick<Deps, "mongo">, orgId: string): Promise<Member[]> {
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
  platform: Deps,
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
  platform: Pick<Platform, "mongo">,
  userIds: string[],
): Promise<(userId: string) => string[]> {
  if (userIds.length === 0) return () => [];
  const memberships = await Memberships(platform.mongo)
    .find({ user_id: { $in: userIds } })
    .lean();
  const byUser = groupBy(memberships, membership => membership.user_id);
  return userId => (byUser.get(userId) ?? []).map(membership => membership.org_id);
}
