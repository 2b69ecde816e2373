import type { Delivery } from "../models/delivery.ts";
import { Sources } from "../models/source.ts";
import { Subscriptions } from "../models/subscription.ts";
import { Workflows } from "../models/workflow.ts";
import type { Platform } from "../platform.ts";

/**
 * True when the delivery's subscription was ended. One that went with its deleted source was not: what the source had
 * emitted by then is still delivered (design.md, guarantee 1).
 */
export async function isUnsubscribed(
  platform: Pick<Platform, "mongo">,
  delivery: Pick<Delivery, "subscription_id" | "emitter_id">,
): Promise<boolean> {
  if (await Subscriptions(platform.mongo).exists({ _id: delivery.subscription_id })) return false;
  const id = delivery.emitter_id;
  const emitter = id.startsWith("p_")
    ? await Workflows(platform.mongo).exists({ _id: id })
    : await Sources(platform.mongo).exists({ _id: id, state: "ready" });
  return emitter !== null;
}
