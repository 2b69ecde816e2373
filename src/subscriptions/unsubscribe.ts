import { accountsOfSubscriptions } from "../accounts/routing-accounts.ts";
import { notFound } from "../lib/errors.ts";
import { Subscriptions } from "../models/subscription.ts";
import type { Platform } from "../platform.ts";
import type { Subscriber, SubscriptionKey } from "./subscribe.ts";

/**
 * Deletes a subscription. If both the subscriber's own account and one of its organizations have it, the subscriber's
 * own is deleted. Throws `not-found` if none of `owners` has it.
 */
export async function unsubscribe(
  platform: Pick<Platform, "mongo" | "routing">,
  { owner, owners }: Subscriber,
  { emitterId, listenerId, eventName }: SubscriptionKey,
): Promise<void> {
  for (const owner_id of [owner, { $in: owners }]) {
    const deleted = await Subscriptions(platform.mongo)
      .findOneAndDelete({
        emitter_id: emitterId,
        event_name: eventName,
        owner_id,
        listener_id: listenerId,
      })
      .lean();
    if (!deleted) continue;
    await platform.routing.invalidate(await accountsOfSubscriptions(platform, [deleted]));
    return;
  }
  throw notFound("subscription");
}
