import { groupBy } from "../lib/group-by.ts";
import { Memberships } from "../models/organization.ts";
import type { Platform } from "../platform.ts";

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
