import { subscriberAccessNow } from "../../accounts/access.ts";
import type { Delivery } from "../../models/delivery.ts";
import type { Webhook } from "../../models/webhook.ts";
import { isSubscriptionEnded } from "../../subscriptions/ended.ts";
import { connectedBy } from "../attempt/connected-by.ts";
import { prepare } from "../attempt/prepare.ts";
import { endDelivery } from "../attempt/record.ts";
import type { DeliveryDeps, Due, SharedByAttempts } from "./shared.ts";

/** An event is stored while its first attempts are made, and MongoDB may have been away since. Milliseconds. */
const STORED_LATE_MS = 60_000;

export interface LoadedDue {
  toSend: Due[];
  /** Deliveries that ended without an attempt. */
  ended: number;
  /** Deliveries whose events are not stored yet. */
  early: Delivery[];
}

/**
 * Loads what the attempts of pending deliveries need and prepares each, as things are now: the webhook may have been deleted
 * or disabled since, and a subscription ended. Those that are not to be sent end here. Throws `unavailable`.
 */
export async function loadDue(
  platform: DeliveryDeps,
  webhook: Webhook | null,
  rows: Delivery[],
  shared: Pick<SharedByAttempts, "reads">,
): Promise<LoadedDue> {
  const loaded: LoadedDue = { toSend: [], ended: 0, early: [] };
  await Promise.all(rows.map(row => loadOne(platform, webhook, row, shared, loaded)));
  const order = new Map(rows.map(({ _id }, i) => [_id, i]));
  loaded.toSend.sort((a, b) => (order.get(a.deliveryId) ?? 0) - (order.get(b.deliveryId) ?? 0));
  return loaded;
}

async function loadOne(
  platform: DeliveryDeps,
  webhook: Webhook | null,
  row: Delivery,
  { reads }: Pick<SharedByAttempts, "reads">,
  loaded: LoadedDue,
): Promise<void> {
  const [event, subscription] = await Promise.all([
    reads.event(row.emit_id),
    reads.subscription(row.subscription_id),
  ]);
  const prepared = prepare({
    webhook,
    access: await subscriberAccessNow(platform, connectedBy(row, subscription, event)),
    isSubscribed: subscription !== null || !(await isSubscriptionEnded(platform, row)),
    payload: event?.event,
  });
  if (prepared.kind === "send") {
    loaded.toSend.push(dueOf(row, prepared, subscription ?? row));
    return;
  }
  const ageMs = platform.clock() - row.created_at.getTime();
  if (prepared.reason === "payload-gone" && ageMs < STORED_LATE_MS) {
    loaded.early.push(row);
    return;
  }
  await endDelivery(platform, row, prepared.reason);
  loaded.ended += 1;
}

/** `having`: the subscription, or, if it was deleted with its emitter, the delivery, which notes what it had. */
function dueOf(
  row: Delivery,
  { webhook, body }: { webhook: Webhook; body: string },
  having: { owner_id: string; function_hash?: string | null | undefined },
): Due {
  const { _id, emit_id, event_id, emitter_id, event_name, trace, hops, subscription_id, webhook_id } = row;
  return {
    deliveryId: _id,
    event: {
      ...{ id: emit_id, event_id, emitter_id, name: event_name },
      ...(trace !== undefined && { trace }),
      ...(hops !== undefined && { hops }),
    },
    listener: { subscriptionId: subscription_id, webhookId: webhook_id, ownerId: having.owner_id },
    webhook,
    body,
    functionHash: having.function_hash ?? null,
    row,
  };
}
