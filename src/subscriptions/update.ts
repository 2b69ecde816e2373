import { accountsOfSubscriptions } from "../accounts/routing-accounts.ts";
import { saveFunction } from "../functions/save-function.ts";
import { notFound } from "../lib/errors.ts";
import { type Subscription, Subscriptions } from "../models/subscription.ts";
import { changesOf } from "./changes.ts";
import { checkFilter } from "./filter.ts";
import { rejectWithoutDeliveries } from "./reject-without-deliveries.ts";
import type { SubscribeDeps } from "./subscribe.ts";

/** What a request changes; null removes it, and what is left out stays. */
interface SubscriptionChanges {
  filter?: unknown;
  function?: string | null;
}

/**
 * Changes the filter and the function of a subscription, whichever account of the caller owns it, and returns it. A function
 * that is given, the same one too, counts its errors from now on. It is tried on the account that owns the subscription. Throws
 * `invalid` for a malformed filter and a function that can't be used, `rate-limited` and `unavailable` while it can't be checked,
 * and `not-found` if the subscription has been deleted since (docs/rest-api.md#subscriptions).
 */
export async function updateSubscription(
  platform: SubscribeDeps,
  subscription: Subscription,
  { filter, function: code }: SubscriptionChanges,
): Promise<Subscription> {
  if (filter !== undefined && filter !== null) checkFilter(filter);
  if (typeof code === "string") rejectWithoutDeliveries(subscription.listener_id);
  const functionHash =
    typeof code === "string" ? await saveFunction(platform, subscription.owner_id, code) : undefined;
  const updated = await Subscriptions(platform.mongo)
    .findOneAndUpdate({ _id: subscription._id }, changesOf({ filter, code, functionHash }), {
      returnDocument: "after",
    })
    .lean();
  if (!updated) throw notFound("subscription");
  await platform.routing.invalidate(await accountsOfSubscriptions(platform, [updated]));
  return updated;
}
