import type { SubscriberAccess } from "../../accounts/access.ts";
import type { EndReason } from "../../models/delivery.ts";
import type { Webhook } from "../../models/webhook.ts";

/** What is true of a delivery at the moment its attempt is due. */
export interface DeliveryFacts {
  /** Null if it was deleted. */
  webhook: Webhook | null;
  /** Of the subscription's owner, to the webhook and to the emitter. */
  access: SubscriberAccess;
  /** False if the subscription was ended. */
  isSubscribed: boolean;
  /** JSON; undefined if the event is no longer kept. */
  payload: string | undefined;
}

/** Why nothing is sent. */
export type UnsentReason = Exclude<EndReason, "exhausted" | "gone">;

/**
 * `end`: the delivery ends, and its record says why. `drop`: the same, but a delivery that has no record yet gets none,
 * since the webhook is gone or belongs to somebody else.
 */
export type Prepared =
  | { kind: "send"; webhook: Webhook; body: string }
  | { kind: "end" | "drop"; reason: UnsentReason };

/** Decides whether an attempt, the first or a later one, is sent, or why not (docs/states.md#delivery). Pure. */
export function prepare({ webhook, access, isSubscribed, payload }: DeliveryFacts): Prepared {
  if (!webhook) return { kind: "drop", reason: "webhook-deleted" };
  if (!access.canUseListener) return { kind: "drop", reason: "access-lost" };
  if (!access.canReadEmitter) return { kind: "end", reason: "access-lost" };
  if (!isSubscribed) return { kind: "end", reason: "subscription-deleted" };
  if (!webhook.active) return { kind: "end", reason: "webhook-disabled" };
  if (payload === undefined) return { kind: "end", reason: "payload-gone" };
  return { kind: "send", webhook, body: payload };
}
