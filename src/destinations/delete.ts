import type { Platform } from "../platform.ts";
import { deleteWebhook } from "../webhooks/delete.ts";

/**
 * Deletes a destination as `deleteWebhook` deletes a webhook, and closes this process's connection to it. Those of other
 * processes, which are used no more, are closed when they have been idle for `LIMITS.destinationIdleMs`.
 */
export async function deleteDestination(
  platform: Parameters<typeof deleteWebhook>[0] & Pick<Platform, "lastingConnections">,
  destinationId: string,
): Promise<void> {
  await deleteWebhook(platform, destinationId);
  platform.lastingConnections.drop(destinationId);
}
