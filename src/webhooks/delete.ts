import { Deliveries, NO_FURTHER_ATTEMPT } from "../models/delivery.ts";
import { AutoSubscriptions, Subscriptions } from "../models/subscription.ts";
import { Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { transaction } from "../store/mongo.ts";

type Deps = Pick<Platform, "mongo" | "clock" | "routing">;

/**
 * Deletes a webhook and its subscriptions in one transaction, then cancels its pending deliveries. There may be very
 * many of those, so they are not part of the transaction: a delivery that a crash leaves pending is cancelled when it
 * is due.
 */
export async function deleteWebhook(platform: Deps, webhookId: string): Promise<void> {
  await transaction(platform.mongo, async session => {
    await Webhooks(platform.mongo).deleteOne({ _id: webhookId }, { session });
    await Subscriptions(platform.mongo).deleteMany({ listener_id: webhookId }, { session });
    await AutoSubscriptions(platform.mongo).deleteMany({ listener_id: webhookId }, { session });
  });
  await platform.routing.invalidate();
  await cancelDeliveries(platform, webhookId);
}

/** Cancels every pending delivery to a webhook; their jobs then have nothing to do. */
async function cancelDeliveries(platform: Deps, webhookId: string): Promise<void> {
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
