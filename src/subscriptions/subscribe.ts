import { checkCount, checkSubscriptionsPerEmitter } from "../accounts/check-count.ts";
import { accountsOfSubscriptions } from "../accounts/routing-accounts.ts";
import { saveFunction } from "../functions/save-function.ts";
import { newId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/unix-seconds.ts";
import { type Subscription, Subscriptions } from "../models/subscription.ts";
import type { Platform } from "../platform.ts";
import { isDuplicateKey } from "../store/mongo.ts";
import { changesOf } from "./changes.ts";
import { checkEmitter, checkListener } from "./check-ids.ts";
import { checkFilter } from "./filter.ts";
import { rejectWithoutDeliveries } from "./reject-without-deliveries.ts";

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
  /**
   * Code of a function; null for none. Without it, an existing subscription keeps its function, and a new one has none.
   */
  code?: string | null | undefined;
}

export type SubscribeDeps = Pick<
  Platform,
  "mongo" | "redis" | "keys" | "routing" | "clock" | "config" | "sandboxes"
>;

/**
 * Subscribes a listener to a channel of an emitter. If the subscription exists, it is returned, with its filter
 * and its function replaced if there is a new one. Throws `invalid` for a malformed id or filter, or a function that can't be
 * used, `rate-limited` and `unavailable` while it can't be checked, `not-found` if none of the
 * subscriber's `owners` owns the emitter or the listener, and `limit-reached` (docs/rest-api.md#subscriptions).
 */
export async function subscribe(
  platform: SubscribeDeps,
  { owner, owners, userId }: Subscriber,
  { emitterId, listenerId, eventName, filter, code }: NewSubscription,
): Promise<Subscription> {
  if (filter !== undefined) checkFilter(filter);
  await checkEmitter(platform, emitterId, eventName, owners);
  await checkListener(platform, listenerId, owners);
  if (typeof code === "string") rejectWithoutDeliveries(listenerId);
  const key = { emitter_id: emitterId, event_name: eventName, owner_id: owner, listener_id: listenerId };
  if (!(await Subscriptions(platform.mongo).exists(key))) {
    await checkCount(platform, owner, "subscriptions");
    await checkSubscriptionsPerEmitter(platform, owner, emitterId);
  }
  const functionHash = typeof code === "string" ? await saveFunction(platform, owner, code) : undefined;
  const subscription: Subscription = {
    _id: newId("sub", platform.clock()),
    user_id: userId,
    filter: filter === undefined ? null : JSON.stringify(filter),
    ...(functionHash !== undefined && { function_hash: functionHash }),
    ...key,
    created_at: unixSeconds(platform.clock()),
  };
  try {
    await Subscriptions(platform.mongo).insertOne(subscription);
    await platform.routing.invalidate(await accountsOfSubscriptions(platform, [subscription]));
    return subscription;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const existing = await Subscriptions(platform.mongo)
      .findOneAndUpdate(key, changesOf({ filter, code, functionHash }), { returnDocument: "after" })
      .lean();
    await platform.routing.invalidate(await accountsOfSubscriptions(platform, [subscription]));
    return existing ?? subscription;
  }
}
