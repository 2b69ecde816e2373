import { Sources } from "../models/source.ts";
import { Subscriptions } from "../models/subscription.ts";
import { Workflows } from "../models/workflow.ts";
import type { Platform } from "../platform.ts";

/**
 * Returns true if a subscription that no longer exists was ended by its owner. One that was deleted together with its
 * source was not: what the source had emitted by then is still delivered (docs/design.md#guarantee-1).
 */
export async function isSubscriptionEnded(
  platform: Pick<Platform, "mongo">,
  { subscription_id, emitter_id }: { subscription_id: string; emitter_id: string },
): Promise<boolean> {
  if (await Subscriptions(platform.mongo).exists({ _id: subscription_id })) return false;
  const emitter = emitter_id.startsWith("p_")
    ? await Workflows(platform.mongo).exists({ _id: emitter_id })
    : await Sources(platform.mongo).exists({ _id: emitter_id, state: "ready" });
  return emitter !== null;
}
