import { createDeliveries } from "../deliveries/create.ts";
import { reaches } from "../organizations/service.ts";
import type { Platform } from "../platform.ts";
import { enqueue } from "../queues/define-queue.ts";
import type { EmissionsJob } from "../queues/emissions.ts";
import { workflowEvents } from "../queues/workflow-events.ts";
import { enqueueRun } from "../sources/enqueue-run.ts";
import { Sources } from "../sources/model.ts";
import { eventMs } from "../store/event-id.ts";
import { derivedId } from "../store/ids.ts";
import type { Subscription } from "../subscriptions/model.ts";
import { Workflows } from "../workflows/model.ts";
import { countDrop } from "./drops.ts";
import type { StoredEvent } from "./model.ts";

/** What an emission needs on its way to its listeners. */
export type EmitPlatform = Pick<
  Platform,
  "mongo" | "redis" | "keys" | "queues" | "eventLog" | "runLine" | "counters" | "clock" | "config" | "log"
>;

/** An event that has passed this many sources is in a loop of sources that listen to each other. */
const MAX_HOPS = 16;

/** Hands an event to the listener of each subscription; answers how many took it. Safe to repeat. */
export async function fanOut(
  platform: EmitPlatform,
  event: StoredEvent,
  subscriptions: Subscription[],
  emission: EmissionsJob,
): Promise<number> {
  const webhooks = subscriptions.filter(subscription => subscription.listener_id.startsWith("wh_"));
  const others = subscriptions.filter(subscription => !subscription.listener_id.startsWith("wh_"));
  if (webhooks.length > 0) {
    await createDeliveries(platform, {
      event,
      listeners: webhooks.map(({ _id, listener_id, owner_id }) => ({
        subscriptionId: _id,
        webhookId: listener_id,
        ownerId: owner_id,
      })),
    });
  }
  let taken = webhooks.length;
  for (const subscription of others) {
    const hops = (emission.hops ?? 0) + 1;
    if (hops > MAX_HOPS) {
      await countDrop(platform, event.emitter_id, "loop");
      continue;
    }
    const give = subscription.listener_id.startsWith("dc_") ? giveSource : giveWorkflow;
    if (await give(platform, event, subscription, emission, hops)) taken += 1;
    else await countDrop(platform, event.emitter_id, "listener-absent");
  }
  return taken;
}

type Give = (
  platform: EmitPlatform,
  event: StoredEvent,
  subscription: Subscription,
  emission: EmissionsJob,
  hops: number,
) => Promise<boolean>;

const giveSource: Give = async (platform, event, subscription, emission, hops) => {
  const source = await Sources(platform.mongo)
    .findOne({ _id: subscription.listener_id, state: "ready", active: true }, { owner_id: 1 })
    .lean();
  if (!source || !(await reaches(platform, subscription.owner_id, source.owner_id))) return false;
  await enqueueRun(platform, subscription.listener_id, {
    kind: "event",
    // Derived, so that a fan-out done twice runs the listener once (its run record exists).
    run_id: derivedId("run", eventMs(event.event_id), event._id, subscription._id),
    at_ms: eventMs(event.event_id),
    event: emission.event,
    hops,
  });
  return true;
};

const giveWorkflow: Give = async (platform, event, subscription, emission, hops) => {
  const workflow = await Workflows(platform.mongo).findById(subscription.listener_id, { owner_id: 1 }).lean();
  if (!workflow || !(await reaches(platform, subscription.owner_id, workflow.owner_id))) return false;
  await enqueue(platform.queues, workflowEvents, {
    workflow_id: subscription.listener_id,
    subscription_id: subscription._id,
    event_id: event.event_id,
    emit_id: emission.emit_id,
    emitter_id: event.emitter_id,
    name: event.name,
    event: emission.event,
    hops,
  });
  return true;
};
