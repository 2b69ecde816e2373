import { acceptRuns } from "../accepted/keep.ts";
import { canAccessCached } from "../accounts/access.ts";
import { queueBounds } from "../accounts/limits.ts";
import { createDeliveries, deliveryId } from "../deliveries/dispatch/create.ts";
import { persistEvents } from "../deliveries/dispatch/dispatch.ts";
import { whyNotRetried } from "../deliveries/manual-retry.ts";
import { AppError } from "../lib/errors.ts";
import { eventScore, newId } from "../lib/ids.ts";
import { JsonText } from "../lib/json-text.ts";
import { Deliveries, type Delivery } from "../models/delivery.ts";
import { type StoredEvent, StoredEvents, storedEventId } from "../models/event.ts";
import { Sources } from "../models/source.ts";
import type { Subscription } from "../models/subscription.ts";
import { receivesDeliveries } from "../models/webhook.ts";
import { Workflows } from "../models/workflow.ts";
import type { Stores, Working } from "../platform.ts";
import { openedQueue } from "../queues/define-queue.ts";
import { workflowEvents } from "../queues/workflow-events.ts";
import { checkListener } from "../subscriptions/find.ts";
import { findSubscriptions, selectMatching, withoutSubject } from "../subscriptions/match.ts";
import { carriedBy, enqueueWorkflowEvent } from "./fan-out.ts";
import { type FoundEvent, findEvent } from "./find.ts";
import { eventOf } from "./read.ts";
import { searchedBy } from "./stored-events.ts";

export interface Replayed {
  deliveries: { id: string; webhook_id: string }[];
  runs: { id: string; source_id: string }[];
  workflows: { workflow_id: string }[];
  /** Listeners that do not receive it again, and why. */
  skipped: { listener_id: string; reason: string }[];
}

interface Request {
  id: string;
  emitterId?: string | undefined;
  /** Absent for every listener that matches now. */
  listenerId?: string | undefined;
}

/**
 * Hands an event to its listeners again: to those whose subscriptions, of these owners, match it now. A webhook receives it
 * under the same `webhook-id` as before, or for the first time; a source runs once more; a workflow engine gets a job.
 * Ids are those of `traceEvent`; `ownerId` is the account of the emitter. Throws `not-found` for the event or the listener, and `conflict` if the event is no longer
 * stored whole.
 */
export async function replayEvent(
  platform: Working,
  { id, emitterId, listenerId }: Request,
  owners: string[],
): Promise<{ replayed: Replayed; ownerId: string }> {
  if (listenerId !== undefined) await checkListener(platform, listenerId, owners);
  const found = await findEvent(platform, id, emitterId, owners);
  if (found.eventId === null) throw new AppError("not-found", "event not found");
  const stored = wholeEvent(platform, found, found.eventId);
  await platform.routing.refresh();
  const event = new JsonText(stored.event);
  const listening = await findSubscriptions(platform, found.emitter, stored.name);
  const subscriptions = withoutSubject(listening, stored.name, event).filter(
    one => owners.includes(one.owner_id) && (listenerId ?? one.listener_id) === one.listener_id,
  );
  const { matched, filtered } = await selectMatching(subscriptions, event);
  const replayed: Replayed = { deliveries: [], runs: [], workflows: [], skipped: [] };
  const skip = (listener_id: string, reason: string) => replayed.skipped.push({ listener_id, reason });
  for (const one of filtered) skip(one.listener_id, "its filter does not match the event");
  if (listenerId !== undefined && subscriptions.length === 0) {
    skip(listenerId, "it has no subscription to this channel of the emitter");
  }
  await replayToWebhooks(platform, stored, matched, replayed);
  for (const subscription of matched) {
    if (subscription.listener_id.startsWith("dc_"))
      await replayToSource(platform, stored, subscription, replayed);
    if (subscription.listener_id.startsWith("p_"))
      await replayToWorkflow(platform, stored, subscription, replayed);
  }
  return { replayed, ownerId: found.emitter.owner_id };
}

/** Returns the event as it is stored, or as it would be if it had gone to webhooks. Throws `conflict`. */
function wholeEvent(
  platform: Stores,
  { emitter, emitId, stored, summary }: FoundEvent,
  eventId: string,
): StoredEvent {
  if (stored) return stored;
  if (!summary || summary.metadata.truncated || emitId === null) {
    throw new AppError("conflict", "the event is no longer kept");
  }
  return {
    _id: storedEventId(emitter.id, emitId),
    emitter_id: emitter.id,
    owner_id: emitter.owner_id,
    event_id: eventId,
    score: eventScore(eventId) ?? 0,
    name: summary.metadata.name,
    event: eventOf(summary).text,
    has_webhook_listeners: true,
    ...searchedBy(platform, eventOf(summary)),
    created_at: new Date(platform.clock()),
  };
}

async function replayToWebhooks(
  platform: Working,
  event: StoredEvent,
  matched: Subscription[],
  replayed: Replayed,
): Promise<void> {
  const subscriptions = matched.filter(({ listener_id }) => receivesDeliveries(listener_id));
  if (subscriptions.length === 0) return;
  // A delivery needs its event for as long as it may be retried.
  await persistEvents(platform, [event]);
  await StoredEvents(platform.mongo).updateOne(
    { _id: event._id },
    { $set: { has_webhook_listeners: true, ...searchedBy(platform, new JsonText(event.event)) } },
  );
  const idOf = ({ _id }: Subscription) => deliveryId({ id: event._id, event_id: event.event_id }, _id);
  const existing = await Deliveries(platform.mongo)
    .find({ _id: { $in: subscriptions.map(idOf) } })
    .lean<Delivery[]>();
  const byId = new Map(existing.map(delivery => [delivery._id, delivery]));
  for (const subscription of subscriptions) {
    const { listener_id } = subscription;
    const delivery = byId.get(idOf(subscription));
    const reason = delivery
      ? await whyNotRetried(platform, delivery)
      : await send(platform, event, subscription);
    if (reason === null) replayed.deliveries.push({ id: idOf(subscription), webhook_id: listener_id });
    else replayed.skipped.push({ listener_id, reason });
  }
}

async function send(
  platform: Working,
  event: StoredEvent,
  subscription: Subscription,
): Promise<string | null> {
  const { _id, listener_id, owner_id } = subscription;
  const listener = { subscriptionId: _id, webhookId: listener_id, ownerId: owner_id };
  await createDeliveries(platform, { event, listeners: [listener] });
  const id = deliveryId({ id: event._id, event_id: event.event_id }, _id);
  const created = await Deliveries(platform.mongo).findById(id, { state: 1, reason: 1 }).lean();
  return created?.state === "pending" || created?.state === "delivered"
    ? null
    : (created?.reason ?? "it was deleted, or is no longer accessible");
}

async function replayToSource(
  platform: Working,
  event: StoredEvent,
  subscription: Subscription,
  replayed: Replayed,
): Promise<void> {
  const { listener_id, owner_id } = subscription;
  const source = await Sources(platform.mongo)
    .findOne({ _id: listener_id, state: "ready", active: true }, { owner_id: 1 })
    .lean();
  if (!source || !(await canAccessCached(platform, owner_id, source.owner_id))) {
    replayed.skipped.push({ listener_id, reason: "it is disabled or no longer accessible" });
    return;
  }
  // A run of its own: the first one's id would be that of a run that exists.
  const run_id = newId("run", platform.clock());
  const run = {
    kind: "event" as const,
    run_id,
    at_ms: platform.clock(),
    event: new JsonText(event.event),
    hops: 1,
    ...carriedBy(event, subscription, source),
    ...(event.trace !== undefined && { trace: event.trace }),
  };
  const bounds = await queueBounds(platform, source.owner_id);
  const [isAccepted] = await acceptRuns(platform, listener_id, [run], bounds);
  if (isAccepted) replayed.runs.push({ id: run_id, source_id: listener_id });
  else replayed.skipped.push({ listener_id, reason: "too many runs wait for it" });
}

async function replayToWorkflow(
  platform: Working,
  event: StoredEvent,
  subscription: Subscription,
  replayed: Replayed,
): Promise<void> {
  const { listener_id, owner_id, _id: subscription_id } = subscription;
  const skip = (reason: string) => void replayed.skipped.push({ listener_id, reason });
  const workflow = await Workflows(platform.mongo).findById(listener_id, { owner_id: 1 }).lean();
  if (!workflow || !(await canAccessCached(platform, owner_id, workflow.owner_id))) {
    return skip("it was deleted, or is no longer accessible");
  }
  const job = {
    workflow_id: listener_id,
    subscription_id,
    event_id: event.event_id,
    emit_id: event._id.slice(storedEventId(event.emitter_id, "").length),
    emitter_id: event.emitter_id,
    name: event.name,
    event: new JsonText(event.event),
    hops: 1,
  };
  const queue = openedQueue(platform.queues, workflowEvents);
  const jobId = workflowEvents.jobs["workflow-events"].jobId?.(job) ?? "";
  // A job that an engine has finished is kept for a while, and another one of its name would be ignored.
  const state = await queue.getJobState(jobId);
  if (state === "completed" || state === "failed") await queue.remove(jobId);
  else if (state !== "unknown") return skip("the event still waits for its engine");
  const enqueue = () => enqueueWorkflowEvent(platform, workflow.owner_id, job);
  if (await platform.replicas.confirmed(enqueue)) replayed.workflows.push({ workflow_id: listener_id });
  else skip("its account has all that may wait for an engine");
}
