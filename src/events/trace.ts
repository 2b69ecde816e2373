import { readNames } from "../accounts/names.ts";
import { namesOfDeliveries, presentWithAttempts } from "../deliveries/read.ts";
import { notFound } from "../lib/errors.ts";
import { eventMs, runIdOf } from "../lib/ids.ts";
import { JsonText } from "../lib/json-text.ts";
import { unixSeconds } from "../lib/time.ts";
import { Deliveries, type Delivery } from "../models/delivery.ts";
import { type StoredEvent, storedEventId } from "../models/event.ts";
import { type RunRecord, RunRecords } from "../models/run.ts";
import type { Subscription } from "../models/subscription.ts";
import { receivesDeliveries } from "../models/webhook.ts";
import type { Queued, Stores } from "../platform.ts";
import { openedQueue } from "../queues/define-queue.ts";
import { deliveries, drainJobIdOf } from "../queues/deliveries.ts";
import { findJobState } from "../queues/shards.ts";
import { workflowEvents } from "../queues/workflow-events.ts";
import { readDrops } from "../store/events/drops.ts";
import { EMITS_REMEMBERED_MS } from "../store/events/event-log.ts";
import { listSettled } from "../store/runs/settled-runs.ts";
import { explainMismatch } from "../subscriptions/filter.ts";
import { findSubscriptionsToEmitter, withoutSubject } from "../subscriptions/match.ts";
import { isSampled, type TraceContext, traceIdOf } from "../tracing/trace-context.ts";
import { listenerRunId } from "./fan-out.ts";
import { type FoundEvent, findEvent } from "./find.ts";
import { eventOf, readPayload } from "./read.ts";
import { type EventTrace, summarizeRun, type TracedSubscription } from "./trace-schema.ts";

/** Subscriptions and deliveries shown: enough to find one's own, and no list without end. */
const MAX_SHOWN = 100;
/** What is due at a webhook is counted up to this. */
const MAX_COUNTED = 1000;

interface TraceRequest {
  id: string;
  emitterId?: string | undefined;
  /** Whether the trace has the event itself. */
  isExpanded?: boolean;
}

/**
 * Returns the whole story of one event of an emitter that one of `owners` owns. `id` is an event id, an emit id, or a
 * delivery id (the `webhook-id` that a receiver sees). `emitterId` is required with an event id, and with an emit id that a
 * workflow engine chose. Throws `invalid` if it is missing, `not-found` if nothing is known of the event.
 */
export async function traceEvent(
  platform: Stores & Queued,
  { id, emitterId, isExpanded = false }: TraceRequest,
  owners: string[],
): Promise<EventTrace> {
  const found = await findEvent(platform, id, emitterId, owners);
  const { emitter, emitId, eventId, stored, summary } = found;
  const run = await findEmittingRun(platform, emitId);
  if (!eventId && !(run && emitId && hasEmitted(run, emitId))) throw notFound("event");
  const isQueued = !eventId && run !== null && mayBeQueued(platform, run);
  const name = stored?.name ?? summary?.metadata.name ?? null;
  const [payload, subscriptions, ofWebhooks, emitterDropped] = await Promise.all([
    readPayload(platform, found),
    eventId ? traceSubscriptions(platform, found, owners) : [],
    stored ? findDeliveries(platform, stored._id, owners) : [],
    readDrops(platform, emitter.id),
  ]);
  const nameOf = await namesOfDeliveries(platform, ofWebhooks, owners);
  return {
    state: isQueued ? "queued" : "emitted",
    emitter_id: emitter.id,
    emit_id: emitId,
    event_id: eventId,
    name,
    emitted_at_ms: eventId ? eventMs(eventId) : null,
    summary,
    payload: payload.place,
    ...(isExpanded && payload.place !== "gone" && { event: payload.event }),
    run: run ? summarizeRun(run) : null,
    ...linkTrace(platform, stored?.trace ?? run?.trace),
    subscriptions,
    dispatch: await traceDispatch(platform, stored),
    deliveries: await Promise.all(
      ofWebhooks.map(async delivery => ({
        ...presentWithAttempts(delivery, nameOf),
        waiting_for: await waitingFor(platform, delivery),
      })),
    ),
    listeners: await traceListeners(platform, found, subscriptions),
    emitter_dropped: emitterDropped,
  };
}

function linkTrace(
  { config }: Stores & Queued,
  trace: TraceContext | undefined,
): Pick<EventTrace, "trace_id" | "trace_url"> {
  if (trace === undefined) return { trace_id: null, trace_url: null };
  const trace_id = traceIdOf(trace);
  const trace_url = isSampled(trace)
    ? (config.tracing.url?.replaceAll("{trace_id}", trace_id) ?? null)
    : null;
  return { trace_id, trace_url };
}

async function findEmittingRun(platform: Stores & Queued, emitId: string | null) {
  const runId = emitId === null ? undefined : runIdOf(emitId);
  return runId ? await RunRecords(platform.mongo).findById(runId).lean() : null;
}

/** Whether a run emitted an event under this id: its suffix counts the events, `log…` and `error` name the others. */
function hasEmitted(run: RunRecord, emitId: string): boolean {
  const suffix = emitId.slice(run._id.length + 1);
  return /^\d+$/.test(suffix) ? Number(suffix) < run.emitted : /^(log\d+|error)$/.test(suffix);
}

/** An event without an id waits for the emissions worker, unless it is so old that its id was forgotten since. */
function mayBeQueued(platform: Stores & Queued, run: RunRecord): boolean {
  const ageMs = platform.clock() - run.finished_at.getTime();
  return run.outbox !== undefined || ageMs < EMITS_REMEMBERED_MS;
}

async function traceSubscriptions(
  platform: Stores & Queued,
  { emitter, eventId, stored, summary }: FoundEvent,
  owners: string[],
): Promise<TracedSubscription[]> {
  const channel = stored?.name ?? summary?.metadata.name ?? "";
  const found = await findSubscriptionsToEmitter(platform, emitter, owners, MAX_SHOWN);
  const event = stored ? new JsonText(stored.event) : summary ? eventOf(summary) : new JsonText("null");
  const emittedAt = unixSeconds(eventMs(eventId ?? "0-0"));
  const named = found.flatMap(({ emitter_id, listener_id }) => [emitter_id, listener_id]);
  const nameOf = await readNames(platform, named, owners);
  return found.map(subscription => ({
    id: subscription._id,
    emitter_id: subscription.emitter_id,
    emitter_name: nameOf(subscription.emitter_id),
    listener_id: subscription.listener_id,
    listener_name: nameOf(subscription.listener_id),
    event_name: subscription.event_name,
    ...outcomeOf(subscription, {
      channel,
      event,
      emittedAt,
      isWhole: stored !== null || !summary?.metadata.truncated,
    }),
  }));
}

function outcomeOf(
  subscription: Subscription,
  of: { channel: string; event: JsonText; emittedAt: number; isWhole: boolean },
): Pick<TracedSubscription, "outcome" | "reason"> {
  if (subscription.event_name !== of.channel) {
    const named = (channel: string) => (channel === "" ? "the default channel" : `channel ${channel}`);
    const reason = `it subscribes to ${named(subscription.event_name)}, and the event was emitted on ${named(of.channel)}`;
    return { outcome: "other-channel", reason };
  }
  if (withoutSubject([subscription], of.channel, of.event).length === 0) {
    return { outcome: "filtered", reason: "an alert is not sent to the listener that it is about" };
  }
  if (subscription.created_at > of.emittedAt) {
    return { outcome: "created-later", reason: "it was created after the event was emitted" };
  }
  if (subscription.filter === null) return { outcome: "matched", reason: null };
  if (!of.isWhole) {
    return {
      outcome: "matched",
      reason: "the event is no longer stored whole, so its filter can't be evaluated",
    };
  }
  const mismatch = explainMismatch(JSON.parse(subscription.filter), of.event.value);
  return mismatch === null ? { outcome: "matched", reason: null } : { outcome: "filtered", reason: mismatch };
}

async function findDeliveries(
  platform: Stores & Queued,
  storedId: string,
  owners: string[],
): Promise<Delivery[]> {
  const found = await Deliveries(platform.mongo)
    .find({ emit_id: storedId, owner_id: { $in: owners } })
    .limit(MAX_SHOWN)
    .lean<Delivery[]>();
  return found.sort((a, b) => (a._id < b._id ? -1 : 1));
}

async function traceDispatch(
  platform: Stores & Queued,
  stored: StoredEvent | null,
): Promise<EventTrace["dispatch"]> {
  if (!stored?.pending_dispatch) return null;
  const { job_id } = stored.pending_dispatch;
  const state = await findJobState(openedQueue(platform.queues, deliveries), job_id);
  return { job_id, state: state === "unknown" ? "lost: the sweep dispatches it again" : state };
}

/** What a pending delivery waits for, in words; null for one that has ended. */
async function waitingFor(platform: Stores & Queued, delivery: Delivery): Promise<string | null> {
  const { state, webhook_id, next_attempt_at_ms, in_flight_until_ms = 0 } = delivery;
  if (state !== "pending") return null;
  const now = platform.clock();
  if (in_flight_until_ms > now) return "its attempt is in flight";
  const dueAtMs = next_attempt_at_ms ?? 0;
  if (dueAtMs > now) return "its next scheduled attempt";
  const drain = drainJobIdOf(webhook_id, dueAtMs);
  const drainState = await findJobState(openedQueue(platform.queues, deliveries), drain);
  if (drainState === "waiting" || drainState === "prioritized" || drainState === "delayed") {
    return "a free delivery worker";
  }
  const isDrained = drainState === "active" || (await platform.permits.findDrained([webhook_id])).size > 0;
  if (!isDrained) return "its turn at an ordered webhook, or the sweep";
  const due = await Deliveries(platform.mongo).countDocuments(
    { webhook_id, state: "pending", next_attempt_at_ms: { $lte: now } },
    { limit: MAX_COUNTED, hint: "due_at_webhook" },
  );
  const many =
    due === MAX_COUNTED
      ? `${MAX_COUNTED} or more deliveries are`
      : due === 1
        ? "it is"
        : `${due} deliveries are`;
  return `its turn at its webhook, where ${many} due`;
}

/** What became of the event at the sources and workflows among its listeners. */
async function traceListeners(
  platform: Stores & Queued,
  { emitter, eventId, emitId }: FoundEvent,
  subscriptions: TracedSubscription[],
): Promise<EventTrace["listeners"]> {
  if (!eventId || emitId === null) return [];
  const event = { _id: storedEventId(emitter.id, emitId), event_id: eventId };
  const matched = subscriptions.filter(
    one => one.outcome === "matched" && !receivesDeliveries(one.listener_id),
  );
  return await Promise.all(
    matched.map(async ({ id: subscription_id, listener_id }) => {
      const about = { subscription_id, listener_id };
      if (listener_id.startsWith("p_")) {
        return {
          ...about,
          run: null,
          state: await workflowState(platform, emitter.id, eventId, subscription_id),
        };
      }
      const run = await RunRecords(platform.mongo).findById(listenerRunId(event, subscription_id)).lean();
      if (run) return { ...about, state: "finished" as const, run: summarizeRun(run) };
      const isQueued =
        (await platform.runQueue.length(listener_id)) > 0 ||
        (await listSettled(platform, listener_id)).length > 0;
      return { ...about, state: isQueued ? ("queued" as const) : ("unknown" as const), run: null };
    }),
  );
}

async function workflowState(
  platform: Stores & Queued,
  emitterId: string,
  eventId: string,
  subscriptionId: string,
): Promise<EventTrace["listeners"][number]["state"]> {
  const jobId = `${emitterId}-${eventId}-${subscriptionId}`;
  const state = await openedQueue(platform.queues, workflowEvents).getJobState(jobId);
  if (state === "completed") return "taken";
  if (state === "failed") return "failed";
  return state === "unknown" ? "unknown" : "queued";
}
