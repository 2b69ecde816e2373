import { Organizations } from "../models/organization.ts";
import { Users } from "../models/user.ts";
import type { Platform } from "../platform.ts";

/** Returns those of these accounts that exist, users and organizations, each as its own owner. */
export async function findAccounts(
  { mongo }: Pick<Platform, "mongo">,
  ids: string[],
): Promise<{ _id: string; owner_id: string }[]> {
  const among = { _id: { $in: ids } };
  const found = await Promise.all([
    Users(mongo).find(among, { _id: 1 }).lean(),
    Organizations(mongo).find(among, { _id: 1 }).lean(),
  ]);
  return found.flat().map(({ _id }) => ({ _id, owner_id: _id }));
}
