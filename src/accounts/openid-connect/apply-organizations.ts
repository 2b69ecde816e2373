import { unixSeconds } from "../../lib/time.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { Memberships, Organizations } from "../../models/organization.ts";
import type { Platform } from "../../platform.ts";
import { isDuplicateKey } from "../../store/mongo.ts";

type Deps = Pick<Platform, "mongo" | "clock" | "routing" | "log">;

/**
 * Makes a user a member of the organizations that the rules give, and ends memberships that rules gave and give no longer.
 * Memberships of other origin stay. A rule for an organization that is absent or full is logged, and stops no sign-in.
 */
export async function applyOrganizations(platform: Deps, userId: string, orgIds: string[]): Promise<void> {
  const { mongo, routing } = platform;
  const current = await Memberships(mongo).find({ user_id: userId }).lean();
  const lost = current.filter(({ by_rule, org_id }) => by_rule && !orgIds.includes(org_id));
  const missing = orgIds.filter(id => !current.some(({ org_id }) => org_id === id));
  if (lost.length > 0) await Memberships(mongo).deleteMany({ _id: { $in: lost.map(({ _id }) => _id) } });
  for (const orgId of missing) await join(platform, userId, orgId);
  const changed = [...lost.map(({ org_id }) => org_id), ...missing];
  if (changed.length > 0) await routing.invalidate([userId, ...changed]);
}

async function join({ mongo, clock, log }: Deps, userId: string, orgId: string): Promise<void> {
  const most = LIMITS.members.value;
  const exists = await Organizations(mongo).exists({ _id: orgId });
  if (!exists || (await Memberships(mongo).countDocuments({ org_id: orgId }, { limit: most })) >= most) {
    log.warn({ org_id: orgId }, `OIDC_ALLOW: the organization ${exists ? "is full" : "does not exist"}`);
    return;
  }
  try {
    const created_at = unixSeconds(clock());
    await Memberships(mongo).insertOne({
      ...{ _id: `${orgId}-${userId}`, org_id: orgId, user_id: userId },
      ...{ created_at, by_rule: true },
    });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
}
