import { accountsOfSubscriptions } from "../accounts/routing-accounts.ts";
import { StoredEvents } from "../models/event.ts";
import { AutoSubscriptions, Subscriptions } from "../models/subscription.ts";
import { type Workflow, Workflows } from "../models/workflow.ts";
import type { Platform } from "../platform.ts";
import { noteDeleted } from "../store/gone.ts";
import { transaction } from "../store/mongo.ts";

/**
 * Deletes a workflow with its subscriptions and summaries. Deliveries of its events go on; what it has emitted and is not
 * handled yet is dropped and counted as `emitter-deleted` (docs/design.md#guarantee-8). Throws `unavailable`.
 */
export async function deleteWorkflow(
  platform: Pick<Platform, "mongo" | "redis" | "keys" | "eventLog" | "routing">,
  { _id, owner_id }: Workflow,
): Promise<void> {
  const eitherSide = { $or: [{ emitter_id: _id }, { listener_id: _id }] };
  const subscriptions = await Subscriptions(platform.mongo)
    .find(eitherSide, { owner_id: 1, emitter_id: 1 })
    .lean();
  const accounts = await accountsOfSubscriptions(platform, subscriptions);
  await noteDeleted(platform, _id);
  await transaction(platform.mongo, async session => {
    await Workflows(platform.mongo).deleteOne({ _id }, { session });
    await Subscriptions(platform.mongo).deleteMany(eitherSide, { session });
    await AutoSubscriptions(platform.mongo).deleteMany({ listener_id: _id }, { session });
  });
  await platform.routing.invalidate([owner_id, ...accounts]);
  // What a crash leaves of these expires.
  await StoredEvents(platform.mongo).deleteMany({ emitter_id: _id, has_webhook_listeners: false });
  await platform.eventLog.delete(_id);
}
