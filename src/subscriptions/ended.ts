import { isAccountId } from "../alerts/raise.ts";
import { Sources } from "../models/source.ts";
import { Subscriptions } from "../models/subscription.ts";
import { Workflows } from "../models/workflow.ts";
import type { Platform } from "../platform.ts";

/**
 * Returns true if a subscription was deleted by its owner. A subscription that was deleted together with its source
 * does not count: the events that the source emitted before are still delivered (docs/design.md#guarantee-1).
 */
export async function isSubscriptionEnded(
  platform: Pick<Platform, "mongo">,
  { subscription_id, emitter_id }: { subscription_id: string; emitter_id: string },
): Promise<boolean> {
  if (await Subscriptions(platform.mongo).exists({ _id: subscription_id })) return false;
  // An account is not deleted.
  if (isAccountId(emitter_id)) return true;
  const emitter = emitter_id.startsWith("p_")
    ? await Workflows(platform.mongo).exists({ _id: emitter_id })
    : await Sources(platform.mongo).exists({ _id: emitter_id, state: "ready" });
  return emitter !== null;
}
