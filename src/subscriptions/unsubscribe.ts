import { accountsOfSubscriptions } from "../accounts/routing-accounts.ts";
import { AppError, notFound } from "../lib/errors.ts";
import { type Subscription, Subscriptions } from "../models/subscription.ts";
import type { Platform } from "../platform.ts";
import type { Subscriber, SubscriptionKey } from "./subscribe.ts";

/**
 * Deletes a subscription. If both the subscriber's own account and one of its organizations have it, the subscriber's
 * own is deleted. Throws `conflict` if only several of its organizations have it, `not-found` if none of `owners` has
 * it.
 */
export async function unsubscribe(
  platform: Pick<Platform, "mongo" | "routing">,
  { owner, owners }: Subscriber,
  { emitterId, listenerId, eventName }: SubscriptionKey,
): Promise<void> {
  const key = { emitter_id: emitterId, event_name: eventName, listener_id: listenerId };
  const found = await Subscriptions(platform.mongo)
    .find({ ...key, owner_id: { $in: owners } }, { owner_id: 1, emitter_id: 1 })
    .lean();
  const subscription = found.find(({ owner_id }) => owner_id === owner) ?? onlyOne(found);
  await deleteSubscription(platform, subscription);
}

type Owned = Pick<Subscription, "_id" | "owner_id" | "emitter_id">;

/** Deletes a subscription; no effect if it is deleted already. */
export async function deleteSubscription(
  platform: Pick<Platform, "mongo" | "routing">,
  subscription: Owned,
): Promise<void> {
  const accounts = await accountsOfSubscriptions(platform, [subscription]);
  await Subscriptions(platform.mongo).deleteOne({ _id: subscription._id });
  await platform.routing.invalidate(accounts);
}

function onlyOne([subscription, ...others]: Owned[]): Owned {
  if (!subscription) throw notFound("subscription");
  if (others.length === 0) return subscription;
  const owners = [subscription, ...others].map(({ owner_id }) => owner_id).join(", ");
  throw new AppError("conflict", `several organizations have this subscription: ${owners}; add org_id`);
}
