import { Memberships } from "../models/organization.ts";
import type { Platform } from "../platform.ts";

/** Returns true if the account is the owner itself, or a user who is a member of the owning organization. */
export async function canAccess(
  platform: Pick<Platform, "mongo">,
  userOrOrgId: string,
  ownerId: string,
): Promise<boolean> {
  if (userOrOrgId === ownerId) return true;
  return (await Memberships(platform.mongo).exists({ _id: `${ownerId}-${userOrOrgId}` })) !== null;
}

/** Like `canAccess`, but cached in the routing cache, for checks that are made for every event. */
export async function canAccessCached(
  platform: Pick<Platform, "mongo" | "routing">,
  userOrOrgId: string,
  ownerId: string,
): Promise<boolean> {
  if (userOrOrgId === ownerId) return true;
  const key = `${ownerId}-${userOrOrgId}`;
  const found = await platform.routing.lookUp(
    "access",
    [key],
    async () => {
      const isMember = await canAccess(platform, userOrOrgId, ownerId);
      return new Map([[key, isMember]]);
    },
    () => [ownerId],
  );
  return found.get(key) ?? false;
}
