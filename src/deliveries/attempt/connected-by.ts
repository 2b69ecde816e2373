import type { Connected } from "../../accounts/access.ts";
import type { Delivery } from "../../models/delivery.ts";
import type { StoredEvent } from "../../models/event.ts";
import type { Subscription } from "../../models/subscription.ts";

/**
 * Returns the accounts that a delivery connects. Its subscription is null if it was deleted, perhaps with its emitter, and its
 * event if it is no longer kept: then nothing of the emitter's is left to be sent. A delivery of an earlier release does not
 * name its subscriber: without its subscription, access was asked at its first attempt only.
 */
export function connectedBy(
  { owner_id, subscriber_id }: Pick<Delivery, "owner_id" | "subscriber_id">,
  subscription: Pick<Subscription, "owner_id"> | null | undefined,
  event: Pick<StoredEvent, "owner_id"> | null | undefined,
): Connected {
  const subscriber = subscription?.owner_id ?? subscriber_id;
  if (subscriber === undefined) return { subscriber: owner_id, emitter: owner_id, listener: owner_id };
  return { subscriber, emitter: event?.owner_id ?? subscriber, listener: owner_id };
}
