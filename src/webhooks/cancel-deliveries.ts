import { Deliveries, NO_FURTHER_ATTEMPT } from "../models/delivery.ts";
import type { Platform } from "../platform.ts";

/** Cancels every pending delivery to a deleted webhook; their jobs then find nothing to do. */
export async function cancelDeliveries(
  platform: Pick<Platform, "mongo" | "clock">,
  webhookId: string,
): Promise<void> {
  await Deliveries(platform.mongo).updateMany(
    { webhook_id: webhookId, state: "pending" },
    {
      $set: {
        state: "cancelled",
        reason: "webhook-deleted",
        ...NO_FURTHER_ATTEMPT,
        finished_at_ms: platform.clock(),
      },
    },
  );
}
