import { accountsOfSubscriptions } from "../accounts/routing-accounts.ts";
import { Deliveries, NO_FURTHER_ATTEMPT } from "../models/delivery.ts";
import { AutoSubscriptions, Subscriptions } from "../models/subscription.ts";
import { Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { countDrop } from "../store/drops.ts";
import { transaction } from "../store/mongo.ts";

type Deps = Pick<
  Platform,
  "mongo" | "redis" | "keys" | "metrics" | "activity" | "clock" | "routing" | "permits"
>;

/**
 * Deletes a webhook and its subscriptions in one transaction, then cancels its pending deliveries and releases its permits. There may be very
 * many of those, so they are not part of the transaction: a delivery that a crash leaves pending is cancelled when it
 * is due.
 */
export async function deleteWebhook(platform: Deps, webhookId: string): Promise<void> {
  const [webhook, subscriptions] = await Promise.all([
    Webhooks(platform.mongo).findById(webhookId, { owner_id: 1 }).lean(),
    Subscriptions(platform.mongo).find({ listener_id: webhookId }, { owner_id: 1, emitter_id: 1 }).lean(),
  ]);
  const accounts = await accountsOfSubscriptions(platform, subscriptions);
  await transaction(platform.mongo, async session => {
    await Webhooks(platform.mongo).deleteOne({ _id: webhookId }, { session });
    await Subscriptions(platform.mongo).deleteMany({ listener_id: webhookId }, { session });
    await AutoSubscriptions(platform.mongo).deleteMany({ listener_id: webhookId }, { session });
  });
  await platform.routing.invalidate(webhook ? [webhook.owner_id, ...accounts] : accounts);
  await cancelDeliveries(platform, webhookId);
  await platform.permits.delete(webhookId);
}

/** Cancels and counts every pending delivery to a webhook; their jobs then have nothing to do. */
async function cancelDeliveries(platform: Deps, webhookId: string): Promise<void> {
  const pending = await Deliveries(platform.mongo).aggregate<{ _id: string; count: number }>([
    { $match: { webhook_id: webhookId, state: "pending" } },
    { $group: { _id: "$emitter_id", count: { $sum: 1 } } },
  ]);
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
  for (const { _id: emitterId, count } of pending) {
    platform.metrics.count("deliveries_total", { outcome: "cancelled" }, count);
    await countDrop(platform, emitterId, "listener-absent", count);
  }
}
