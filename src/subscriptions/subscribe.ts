import { checkCount, checkSubscriptionsPerEmitter } from "../accounts/check-count.ts";
import { accountsOfSubscriptions } from "../accounts/routing-accounts.ts";
import { newId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/unix-seconds.ts";
import { type Subscription, Subscriptions } from "../models/subscription.ts";
import type { Platform } from "../platform.ts";
import { isDuplicateKey } from "../store/mongo.ts";
import { checkEmitter, checkListener } from "./check-ids.ts";
import { checkFilter } from "./filter.ts";

/** The account that a subscription is made for. */
export interface Subscriber {
  /** The account that owns the subscription. */
  owner: string;
  /** The accounts whose emitters and listeners it may name. */
  owners: string[];
  userId: string;
}

/** Identifies a subscription of an account. */
export interface SubscriptionKey {
  emitterId: string;
  listenerId: string;
  /** Channel; empty for the default channel. */
  eventName: string;
}

export interface NewSubscription extends SubscriptionKey {
  /** Without it, an existing subscription keeps its filter, and a new one matches all events. */
  filter?: unknown;
}

/**
 * Subscribes a listener to a channel of an emitter. If the subscription exists, it is returned, with its filter
 * replaced if there is a new one. Throws `invalid` for a malformed id or filter, `not-found` if none of the
 * subscriber's `owners` owns the emitter or the listener, and `limit-reached` (docs/rest-api.md#subscriptions).
 */
export async function subscribe(
  platform: Pick<Platform, "mongo" | "clock" | "config" | "routing">,
  { owner, owners, userId }: Subscriber,
  { emitterId, listenerId, eventName, filter }: NewSubscription,
): Promise<Subscription> {
  if (filter !== undefined) checkFilter(filter);
  await checkEmitter(platform, emitterId, eventName, owners);
  await checkListener(platform, listenerId, owners);
  const key = { emitter_id: emitterId, event_name: eventName, owner_id: owner, listener_id: listenerId };
  const subscription: Subscription = {
    _id: newId("sub", platform.clock()),
    user_id: userId,
    filter: filter === undefined ? null : JSON.stringify(filter),
    ...key,
    created_at: unixSeconds(platform.clock()),
  };
  if (!(await Subscriptions(platform.mongo).exists(key))) {
    await checkCount(platform, owner, "subscriptions");
    await checkSubscriptionsPerEmitter(platform, owner, emitterId);
  }
  try {
    await Subscriptions(platform.mongo).insertOne(subscription);
    await platform.routing.invalidate(await accountsOfSubscriptions(platform, [subscription]));
    return subscription;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const changes = filter === undefined ? {} : { $set: { filter: subscription.filter } };
    const existing = await Subscriptions(platform.mongo)
      .findOneAndUpdate(key, changes, { returnDocument: "after" })
      .lean();
    await platform.routing.invalidate(await accountsOfSubscriptions(platform, [subscription]));
    return existing ?? subscription;
  }
}
