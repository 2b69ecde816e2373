import { reaches } from "../accounts/access.ts";
import { createDeliveries } from "../deliveries/dispatch/create.ts";
import { enqueueFirstAttempts } from "../deliveries/dispatch/dispatch.ts";
import { eventMs } from "../lib/event-id.ts";
import { derivedId } from "../lib/ids.ts";
import type { StoredEvent } from "../models/event.ts";
import { Sources } from "../models/source.ts";
import type { Subscription } from "../models/subscription.ts";
import { Workflows } from "../models/workflow.ts";
import type { Platform } from "../platform.ts";
import { enqueue } from "../queues/define-queue.ts";
import type { Emission } from "../queues/emissions.ts";
import { enqueueRun } from "../queues/enqueue-run.ts";
import { workflowEvents } from "../queues/workflow-events.ts";
import { countDrop } from "../store/drops.ts";
import type { Emitter } from "../subscriptions/match.ts";
import { storeEvents } from "./store.ts";

/** What an emission needs on its way to its listeners. */
export type EmitPlatform = Pick<
  Platform,
  | "mongo"
  | "redis"
  | "keys"
  | "queues"
  | "eventLog"
  | "directory"
  | "runLine"
  | "counters"
  | "clock"
  | "config"
  | "log"
>;

/** An event with its id, on its way to those who want it. */
export interface Emitted {
  emission: Emission;
  emitter: Emitter;
  channel: string;
  place: number;
  isNew: boolean;
  truncated: boolean;
  subscriptions: Subscription[];
  filtered: number;
  stored: StoredEvent;
  /** Whether first attempts at its webhooks are to be enqueued: `again` where an earlier try may have done it. */
  post: "no" | "first" | "again" | "unsure";
}

/** An event that has passed this many sources is in a loop of sources that listen to each other. */
const MAX_HOPS = 16;
/** Above it, deliveries are documents before they are jobs: a list this long does not fit into a job or an event. */
const LISTENERS_IN_A_JOB = 200;

const isWebhook = ({ listener_id }: Subscription) => listener_id.startsWith("wh_");

export interface FanOutOptions {
  /** Stores events as `storeEvents` does, perhaps those of others with them. */
  store?: (events: StoredEvent[]) => Promise<void>;
}

/** Stores events and hands each to the listener of each subscription; answers how many took each. Safe to repeat. */
export async function fanOut(
  platform: EmitPlatform,
  events: Emitted[],
  { store = some => storeEvents(platform, some) }: FanOutOptions = {},
): Promise<number[]> {
  const isWide = ({ subscriptions }: Emitted) => subscriptions.length > LISTENERS_IN_A_JOB;
  const posted = onceEach(events.filter(({ post }) => post === "first" || post === "again")).filter(
    event => !isWide(event),
  );
  const kept = events.filter(event => (event.truncated && !event.stored.delivered) || isWide(event));
  await Promise.all([
    enqueueFirstAttempts(
      platform,
      posted.map(({ stored, subscriptions, post }) => ({
        event: stored,
        listeners: subscriptions.filter(isWebhook),
        isAgain: post === "again",
      })),
      store,
    ),
    store(kept.map(({ stored }) => stored)),
  ]);
  for (const { stored, subscriptions } of events.filter(isWide)) {
    await createDeliveries(platform, {
      event: stored,
      listeners: subscriptions.filter(isWebhook).map(({ _id, listener_id, owner_id }) => ({
        subscriptionId: _id,
        webhookId: listener_id,
        ownerId: owner_id,
      })),
    });
  }
  const taken: number[] = [];
  for (const event of events) taken.push(await giveOthers(platform, event));
  return taken;
}

/** The same emission may come twice in one batch. */
const onceEach = (events: Emitted[]) => [
  ...new Map(events.map(event => [event.stored._id, event] as const)).values(),
];

/** Hands an event to the sources and workflows among its listeners; answers how many listeners it has got in all. */
async function giveOthers(
  platform: EmitPlatform,
  { stored, subscriptions, emission }: Emitted,
): Promise<number> {
  let taken = 0;
  for (const subscription of subscriptions) {
    if (isWebhook(subscription)) {
      taken += 1;
      continue;
    }
    const hops = (emission.hops ?? 0) + 1;
    if (hops > MAX_HOPS) {
      await countDrop(platform, stored.emitter_id, "loop");
      continue;
    }
    const give = subscription.listener_id.startsWith("dc_") ? giveSource : giveWorkflow;
    if (await give(platform, stored, subscription, emission, hops)) taken += 1;
    else await countDrop(platform, stored.emitter_id, "listener-absent");
  }
  return taken;
}

type Give = (
  platform: EmitPlatform,
  event: StoredEvent,
  subscription: Subscription,
  emission: Emission,
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
