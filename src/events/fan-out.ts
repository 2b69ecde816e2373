import { LRUCache } from "lru-cache";
import { acceptRuns } from "../accepted/keep.ts";
import { canAccessCached } from "../accounts/access.ts";
import { limitsOf, queueBounds } from "../accounts/limits.ts";
import { createDeliveries } from "../deliveries/dispatch/create.ts";
import { dispatchEvents, type EventToDispatch, persistEvents } from "../deliveries/dispatch/dispatch.ts";
import { divide } from "../lib/divide.ts";
import { derivedId, eventMs } from "../lib/ids.ts";
import { JsonText, stringifyJson } from "../lib/json-text.ts";
import { openPer } from "../lib/lazy.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { StoredEvent } from "../models/event.ts";
import { type Source, Sources } from "../models/source.ts";
import type { Subscription } from "../models/subscription.ts";
import { receivesDeliveries } from "../models/webhook.ts";
import { Workflows } from "../models/workflow.ts";
import type { Working } from "../platform.ts";
import { enqueue, jobState } from "../queues/define-queue.ts";
import type { Emission } from "../queues/emissions.ts";
import type { TriggerItem } from "../queues/run-item.ts";
import { type WorkflowEventsJob, workflowEvents } from "../queues/workflow-events.ts";
import type { RedisClient } from "../store/connections/redis.ts";
import { countDrop, type DropReason } from "../store/events/drops.ts";
import { noteWorkflowJob, removeFinishedJobs } from "../store/limits/workflow-backlog.ts";
import type { Emitter } from "../subscriptions/match.ts";
import type { Span } from "../tracing/span.ts";

/** An event with its id, on its way to its listeners. */
export interface EmittedEvent {
  emission: Emission;
  emitter: Emitter;
  channel: string;
  index: number;
  isNew: boolean;
  truncated: boolean;
  /** Those that match. */
  subscriptions: Subscription[];
  /** How many more would have matched without their filter. */
  filtered: number;
  /** How many more match, and get nothing: the event has come back from an endpoint of this installation too often. */
  looped: number;
  stored: StoredEvent;
  /** Of its handling here; `stored` has its context. */
  span: Span | undefined;
  /**
   * What to do about its webhooks: `skip` if nothing is left to do, `new`, `redispatch` if an earlier try may have enqueued
   * the first attempts, `defer` to leave it to the worker that seems to be handling it.
   */
  dispatch: "skip" | "new" | "redispatch" | "defer";
}

/** An event that has passed this many sources is in a loop of sources that listen to each other. */
const MAX_HOPS = LIMITS.hops.value;
/** With more webhooks, deliveries are stored before they are enqueued: so long a list fits no job and no event. */
const MAX_LISTENERS_PER_JOB = 200;

/** Listeners of the events whose first attempts are enqueued together. */
const LISTENERS_PER_PART = 2000;

const isWebhook = ({ listener_id }: Subscription) => receivesDeliveries(listener_id);

/** Stores events and hands each to its listeners; returns how many listeners received each. Safe to repeat. */
export async function fanOut(platform: Working, events: EmittedEvent[]): Promise<number[]> {
  const isWide = ({ subscriptions }: EmittedEvent) => subscriptions.length > MAX_LISTENERS_PER_JOB;
  const mustDispatch = ({ dispatch }: EmittedEvent) => dispatch === "new" || dispatch === "redispatch";
  const narrow = withoutRepeats(events.filter(mustDispatch)).filter(event => !isWide(event));
  const isKept = ({ truncated, stored }: EmittedEvent) => truncated || stored.has_caller_id === true;
  const storedOnly = events.filter(
    event => (isKept(event) && !event.stored.has_webhook_listeners) || isWide(event),
  );
  const toDispatch = narrow.map(({ stored, subscriptions, dispatch }) => ({
    event: stored,
    listeners: subscriptions.filter(isWebhook),
    isRedispatch: dispatch === "redispatch",
  }));
  await Promise.all([
    dispatchInParts(platform, toDispatch),
    persistEvents(
      platform,
      storedOnly.map(({ stored }) => stored),
    ),
  ]);
  for (const { stored, subscriptions } of events.filter(isWide)) {
    const listeners = subscriptions
      .filter(isWebhook)
      .map(({ _id, listener_id, owner_id, function_hash }) => ({
        subscriptionId: _id,
        webhookId: listener_id,
        ownerId: owner_id,
        functionHash: function_hash,
      }));
    await createDeliveries(platform, { event: stored, listeners });
  }
  const received: number[] = [];
  for (const event of events) received.push(await handToSourcesAndWorkflows(platform, event));
  return received;
}

/** In parts that take the thread for some ten milliseconds, so that other accounts' events come in between. */
async function dispatchInParts(platform: Working, toDispatch: EventToDispatch[]): Promise<void> {
  const parts = divide(toDispatch, LISTENERS_PER_PART, ({ listeners }) => listeners.length);
  for (const part of parts) await dispatchEvents(platform, part);
}

/** The same emission may appear twice in one batch. */
const withoutRepeats = (events: EmittedEvent[]) => [
  ...new Map(events.map(event => [event.stored._id, event] as const)).values(),
];

/** Hands an event to the sources and workflows among its listeners; returns how many listeners it has in all. */
async function handToSourcesAndWorkflows(
  platform: Working,
  { stored, subscriptions, emission }: EmittedEvent,
): Promise<number> {
  let received = 0;
  for (const subscription of subscriptions) {
    if (isWebhook(subscription)) {
      received += 1;
      continue;
    }
    const hops = (emission.hops ?? 0) + 1;
    if (hops > MAX_HOPS) {
      await countDrop(platform, stored.emitter_id, "loop");
      continue;
    }
    const hand = subscription.listener_id.startsWith("dc_") ? handToSource : handToWorkflow;
    const dropped = await hand(platform, stored, subscription, emission, hops);
    if (dropped === null) received += 1;
    else await countDrop(platform, stored.emitter_id, dropped);
  }
  return received;
}

/** Hands an event to one listener; returns null, or why the event was dropped. */
type HandTo = (
  platform: Working,
  event: StoredEvent,
  subscription: Subscription,
  emission: Pick<Emission, "emit_id">,
  hops: number,
) => Promise<DropReason | null>;

const handToSource: HandTo = async (platform, event, subscription, _emission, hops) => {
  const source = await Sources(platform.mongo)
    .findOne({ _id: subscription.listener_id, state: "ready", active: true }, { owner_id: 1 })
    .lean();
  if (!source || !(await canAccessCached(platform, subscription.owner_id, source.owner_id)))
    return "listener-absent";
  const run = {
    kind: "event" as const,
    run_id: listenerRunId(event, subscription._id),
    at_ms: eventMs(event.event_id),
    event: new JsonText(event.event),
    hops,
    ...carriedBy(event, subscription, source),
    ...(event.trace !== undefined && { trace: event.trace }),
  };
  const bounds = await queueBounds(platform, source.owner_id);
  const [isAccepted] = await acceptRuns(platform, subscription.listener_id, [run], bounds);
  return isAccepted ? null : "queue-full";
};

/** The accounts that a subscription to a source connects, for its run, which may wait; nothing within one account. */
export function carriedBy(
  event: Pick<StoredEvent, "emitter_id" | "owner_id">,
  { owner_id: subscriber }: Pick<Subscription, "owner_id">,
  source: Pick<Source, "owner_id">,
): Pick<TriggerItem, "carried"> {
  if (event.owner_id === source.owner_id && subscriber === source.owner_id) return {};
  return { carried: { subscriber, emitter: event.owner_id, emitter_id: event.emitter_id } };
}

/** The run of a source that listens: derived, so that a repeated fan-out runs it once, since its run record exists. */
export const listenerRunId = (event: Pick<StoredEvent, "_id" | "event_id">, subscriptionId: string): string =>
  derivedId("run", eventMs(event.event_id), event._id, subscriptionId);

const handToWorkflow: HandTo = async (platform, event, subscription, emission, hops) => {
  const workflow = await Workflows(platform.mongo).findById(subscription.listener_id, { owner_id: 1 }).lean();
  if (!workflow || !(await canAccessCached(platform, subscription.owner_id, workflow.owner_id)))
    return "listener-absent";
  const job = {
    workflow_id: subscription.listener_id,
    subscription_id: subscription._id,
    event_id: event.event_id,
    emit_id: emission.emit_id,
    emitter_id: event.emitter_id,
    name: event.name,
    event: new JsonText(event.event),
    hops,
    ...(event.trace !== undefined && { trace: event.trace }),
  };
  const isEnqueued = await platform.replicas.confirmed(() =>
    enqueueWorkflowEvent(platform, workflow.owner_id, job),
  );
  return isEnqueued ? null : "saturated";
};

/** How long an account that has reached its bound stays there before its jobs are looked at again. Milliseconds. */
const LOOK_EVERY_MS = 1000;
/** Redis connection (one for each platform) → accounts that had all that may wait, and when that was. */
const saturatedAccounts = openPer((_redis: RedisClient) => new LRUCache<string, number>({ max: 10_000 }));

/**
 * Enqueues an event for a workflow engine. Returns false if the account has all that may wait for an engine: without one
 * the jobs would pile up for ever (docs/limits.md). Repeated, it enqueues nothing twice.
 */
export async function enqueueWorkflowEvent(
  platform: Working,
  ownerId: string,
  payload: WorkflowEventsJob,
): Promise<boolean> {
  const accounts = saturatedAccounts(platform.redis);
  const { workflowEvents: mostJobs, workflowEventBytes: mostBytes } = await limitsOf(platform, ownerId);
  const isWithin = ([jobs, bytes]: [number, number]) => jobs < mostJobs && bytes < mostBytes;
  const since = accounts.get(ownerId);
  if (since !== undefined) {
    if (performance.now() - since < LOOK_EVERY_MS) return false;
    const isLive = async (jobId: string) => (await jobState(platform, workflowEvents, jobId)) === "live";
    if (!isWithin(await removeFinishedJobs(platform, ownerId, isLive))) {
      accounts.set(ownerId, performance.now());
      return false;
    }
    accounts.delete(ownerId);
  }
  const job = workflowEvents.jobs["workflow-events"];
  const [noted] = await Promise.all([
    noteWorkflowJob(platform, ownerId, job.jobId?.(payload) ?? "", stringifyJson(payload).length),
    enqueue(platform.queues, job, payload),
  ]);
  // Looked at again with the next event.
  if (!isWithin(noted)) accounts.set(ownerId, Number.NEGATIVE_INFINITY);
  return true;
}
