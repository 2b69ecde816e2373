import { Sessions } from "../../models/session.ts";
import type { Platform } from "../../platform.ts";
import { applyOrganizations } from "./apply-organizations.ts";

/** Ends what the provider's word gave a user: sessions and memberships. API keys and what was given by people stay. */
export async function withdrawAccess(
  platform: Pick<Platform, "mongo" | "clock" | "routing" | "log">,
  userId: string,
): Promise<void> {
  await Sessions(platform.mongo).deleteMany({ user_id: userId, key_id: null });
  await applyOrganizations(platform, userId, []);
  await platform.routing.invalidate([userId]);
}
