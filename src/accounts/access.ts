import { Memberships } from "../models/organization.ts";
import type { Platform } from "../platform.ts";

/** True when the account is the owner itself or an organization this user is in. */
export async function reaches(
  platform: Pick<Platform, "mongo">,
  userOrOrgId: string,
  ownerId: string,
): Promise<boolean> {
  if (userOrOrgId === ownerId) return true;
  return (await Memberships(platform.mongo).exists({ _id: `${ownerId}-${userOrOrgId}` })) !== null;
}

/** As `reaches`, by the directory: for what is asked of each event. */
export async function reachesByDirectory(
  platform: Pick<Platform, "mongo" | "directory">,
  userOrOrgId: string,
  ownerId: string,
): Promise<boolean> {
  if (userOrOrgId === ownerId) return true;
  const key = `${ownerId}-${userOrOrgId}`;
  const found = await platform.directory.lookUp("reach", [key], async () => {
    const isMember = await reaches(platform, userOrOrgId, ownerId);
    return new Map([[key, isMember]]);
  });
  return found.get(key) ?? false;
}
