import { Sessions } from "../../models/session.ts";
import type { Platform } from "../../platform.ts";
import { revokeProviderKeys } from "../api-keys.ts";
import { applyOrganizations } from "./apply-organizations.ts";

/**
 * Ends what the provider's word gave a user: sessions, the API keys that were made in them, and memberships. What was given by
 * people stays.
 */
export async function withdrawAccess(
  platform: Pick<Platform, "mongo" | "clock" | "routing" | "log">,
  userId: string,
): Promise<void> {
  await Sessions(platform.mongo).deleteMany({ user_id: userId, key_id: null });
  await revokeProviderKeys(platform, userId);
  await applyOrganizations(platform, userId, []);
  await platform.routing.invalidate([userId]);
}
