import { SourceMemories } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { deleteWebhook } from "../webhooks/delete.ts";

/**
 * Deletes a destination as `deleteWebhook` deletes a webhook, and the db of an action, and closes this process's connection to it. Those of other
 * processes, which are used no more, are closed when they have been idle for `LIMITS.destinationIdleMs`.
 */
export async function deleteDestination(
  platform: Parameters<typeof deleteWebhook>[0] & Pick<Platform, "lastingConnections">,
  destinationId: string,
): Promise<void> {
  await deleteWebhook(platform, destinationId);
  await SourceMemories(platform.mongo).deleteOne({ _id: destinationId });
  platform.lastingConnections.drop(destinationId);
}
