import { ALERTS } from "../alerts/raise.ts";
import { Breaks } from "../fairness/thread.ts";
import { AppError, notFound } from "../lib/errors.ts";
import { failpoint } from "../lib/failpoint.ts";
import { hopsField } from "../lib/hops.ts";
import { eventScore, timeOfId } from "../lib/ids.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type StoredEvent, storedEventId } from "../models/event.ts";
import type { Subscription } from "../models/subscription.ts";
import { receivesDeliveries } from "../models/webhook.ts";
import type { Working } from "../platform.ts";
import { jobState } from "../queues/define-queue.ts";
import { deliveries } from "../queues/deliveries.ts";
import type { Emission } from "../queues/emissions.ts";
import { countDrop, type DropReason } from "../store/events/drops.ts";
import { EMITS_REMEMBERED_MS } from "../store/events/event-log.ts";
import { streamOf } from "../store/events/event-summary.ts";
import { findSubscriptions, selectMatching, withoutSubject } from "../subscriptions/match.ts";
import type { Span } from "../tracing/span.ts";
import { parseTraceContext, type TraceContext, traceField } from "../tracing/trace-context.ts";
import { type AppendedEmission, appendEmissions, type KnownEmission } from "./append.ts";
import { type EmittedEvent, fanOut } from "./fan-out.ts";
import { deleteTrimmedLater, type EarlierEvent, findEarlier, searchedBy } from "./stored-events.ts";

/** Ids and results of one emission, for log lines; `deferred` if another worker seems to be handling it. */
export interface EmitResult {
  emitter_id: string;
  event_id: string;
  emit_id: string;
  channel: string;
  /** How many listeners received the event. */
  listeners: number;
  deferred?: true;
  trace_id?: string;
}

export interface EmitOptions {
  /** Leaves an emission to the process that gave it its event id and has not stored it yet. */
  mayDefer?: boolean;
}

/** The emitter was not found, and may exist nevertheless: the emission must come again. */
export const UNCERTAIN = "uncertain";
export type EmitOutcome = EmitResult | typeof UNCERTAIN | null;

/** As `emitAll`, for one emission. Throws `not-found` if the emitter was deleted, `unavailable` if that is uncertain. */
export async function emit(platform: Working, emission: Emission): Promise<EmitResult> {
  const [result] = await emitAll(platform, [emission]);
  if (result === UNCERTAIN) throw emitterUncertain();
  if (!result) throw notFound("emitter");
  return result;
}

/** The error of emissions that must come again because a read after a failover may have missed their emitter. */
export const emitterUncertain = () =>
  new AppError("unavailable", "the emitter can't be read yet", { retryAfterMs: 1000 });

/**
 * Handles emissions: gives each its event id, stores its summary, and hands it to every subscribed listener. May be
 * repeated at any point: an emit id gets the same event id again, and deliveries have derived ids. Returns null for an
 * emission whose emitter was deleted, UNCERTAIN for one that must come again. Each store is asked a handful of times, whatever the number of emissions.
 */
export async function emitAll(
  platform: Working,
  emissions: Emission[],
  options: EmitOptions = {},
): Promise<EmitOutcome[]> {
  const { lookedUp, earlier } = await findRequestedEarlier(platform, emissions);
  if (earlier.size === 0) return await emitNew(platform, emissions, options, { lookedUp, earlier });
  const repeated = emissions.map(emission => {
    const before = earlier.get(idOfStored(emission));
    return before && isRepetition(emission, before) ? resultOf(emission, before.event_id) : undefined;
  });
  const others = emissions.filter((_, i) => repeated[i] === undefined);
  const outcomes = others.length > 0 ? await emitNew(platform, others, options, { lookedUp, earlier }) : [];
  return repeated.map(result => result ?? outcomes.shift() ?? null);
}

/** Stored events that were looked up before event ids are given, and those that were found. */
interface EarlierEvents {
  lookedUp: ReadonlySet<string>;
  earlier: ReadonlyMap<string, EarlierEvent>;
}

/** Looks up the events that were published under ids of their callers', which may have come long ago. */
async function findRequestedEarlier(platform: Working, emissions: Emission[]): Promise<EarlierEvents> {
  const asked = emissions.filter(one => one.requested_at_ms !== undefined && !isYoung(platform, one));
  const lookedUp = new Set(asked.map(idOfStored));
  return { lookedUp, earlier: await findEarlier(platform, [...lookedUp]) };
}

/** More than the clocks of two processes differ by. */
const CLOCKS_DIFFER_MS = 1000;

/**
 * Whether an emission was requested after its event had been stored, so that it is another request with the same id, and
 * the job of the first one does what is left to do. Otherwise it may be that job again.
 */
const isRepetition = ({ requested_at_ms = 0 }: Emission, { createdAtMs }: EarlierEvent): boolean =>
  requested_at_ms > createdAtMs + CLOCKS_DIFFER_MS;

const idOfStored = ({ emitter_id, emit_id }: Emission) => storedEventId(emitter_id, emit_id);
const resultOf = ({ emitter_id, emit_id, name = "" }: Emission, event_id: string, listeners = 0) => ({
  emitter_id,
  event_id,
  emit_id,
  channel: name,
  listeners,
});

async function emitNew(
  platform: Working,
  emissions: Emission[],
  options: EmitOptions,
  before: EarlierEvents,
): Promise<EmitOutcome[]> {
  const startedAtMs = platform.clock();
  const appended = await appendEmissions(platform, emissions);
  const isUnknown = (one: AppendedEmission) =>
    mayBeStored(platform, one) && !(one.isNew && before.lookedUp.has(storedId(one)));
  const [subscribed, found] = await Promise.all([
    findSubscribed(platform, appended.events),
    findEarlier(platform, appended.events.filter(isUnknown).map(storedId)),
  ]);
  const events: EmittedEvent[] = [];
  const breaks = new Breaks();
  for (const one of appended.events) {
    // Travels with the job if it must come again: then it has the same event id, even if Redis has forgotten it.
    one.emission.score ??= eventScore(one.eventId) ?? 0;
    const earlier = found.get(storedId(one)) ?? before.earlier.get(storedId(one));
    const isDone = earlier !== undefined && isRepetition(one.emission, earlier);
    const listening = isDone ? [] : (subscribed.get(feedOf(one)) ?? []);
    const ofChannel = withoutSubject(listening, one.channel, one.json);
    const { matched, filtered } = await selectMatching(ofChannel, one.json, breaks);
    const parent = parseTraceContext(one.emission.trace);
    // A run may write a hundred log lines, which have no listeners as a rule.
    const isTraced = one.channel !== "$logs" || matched.length > 0;
    const span = isTraced ? platform.tracer.start("emit", parent, startedAtMs) : undefined;
    const isLooped = (one.emission.hops ?? 0) > LIMITS.hops.value;
    const subscriptions = isLooped ? [] : matched;
    const stored = storedEvent(platform, one, subscriptions, earlier?.event_id, span?.context ?? parent);
    const dispatch = stored.has_webhook_listeners
      ? await howToDispatch(platform, one, earlier, options.mayDefer ?? false)
      : "skip";
    const looped = matched.length - subscriptions.length;
    events.push({ ...one, subscriptions, looped, filtered: filtered.length, stored, span, dispatch });
  }
  failpoint("events-appended");
  const [received] = await Promise.all([fanOut(platform, events), countDrops(platform, events)]);
  failpoint("events-fanned-out");
  const deferred = events.filter(({ dispatch }) => dispatch === "defer");
  appended.release(new Set(deferred.map(({ emission }) => emission.emit_id)));
  deleteTrimmedLater(platform, appended.trimmed);
  const results: EmitOutcome[] = emissions.map((_, index) =>
    appended.uncertain.has(index) ? UNCERTAIN : null,
  );
  for (const [i, { index, emission, channel, stored, span, dispatch }] of events.entries()) {
    platform.metrics.count("emissions_total", { stream: streamOf(channel) });
    noteEmitted(platform, events[i] as EmittedEvent);
    const result: EmitResult = {
      ...resultOf(emission, stored.event_id, received[i]),
      ...(dispatch === "defer" && { deferred: true as const }),
      ...traceField(stored.trace),
    };
    if (dispatch !== "defer") endSpan(platform, span, result);
    results[index] = result;
    platform.log.debug(result, "event emitted");
  }
  logAbsentEmitters(platform, emissions, results);
  return results;
}

function endSpan(
  { clock }: Working,
  span: Span | undefined,
  { emitter_id, event_id, listeners }: EmitResult,
): void {
  span?.end(
    {
      "headwater.emitter_id": emitter_id,
      "headwater.event_id": event_id,
      "headwater.listeners": listeners,
    },
    clock(),
  );
}

/** Counts a new event for its emitter and its account; errors, log lines and alerts are not counted. */
function noteEmitted({ activity }: Working, { isNew, emitter, channel }: EmittedEvent): void {
  if (isNew && channel !== ALERTS && streamOf(channel) === "emits") {
    activity.count([emitter.id, emitter.owner_id], ["emitted"]);
  }
}

/** The owner's counters went with the emitter, so these drops show in the metrics and in the log. */
function logAbsentEmitters(platform: Working, emissions: Emission[], results: EmitOutcome[]): void {
  for (const [i, { emitter_id, emit_id }] of emissions.entries()) {
    if (results[i]) continue;
    const reason: DropReason = "emitter-deleted";
    platform.metrics.count("events_dropped_total", { reason });
    platform.log.info({ emitter_id, emit_id, reason }, "event dropped");
  }
}

/** How old an emit id may be, by its own time, for Redis alone to know that it is new; clocks differ a little. */
const YOUNG_MS = EMITS_REMEMBERED_MS / 4;

/** Whether the event may be in MongoDB: Redis has seen its emit id, or may have forgotten it. */
function mayBeStored(platform: Working, { isNew, emission }: AppendedEmission): boolean {
  return !isNew || !isYoung(platform, emission);
}

/** False also for what was handled, perhaps, by a Redis that has failed over since. */
function isYoung(platform: Working, { emit_id }: Emission): boolean {
  const at = timeOfId(emit_id);
  if (at === null || at <= platform.redisSince() + CLOCKS_DIFFER_MS) return false;
  return Math.abs(platform.clock() - at) <= YOUNG_MS;
}

const storedId = ({ emitter, emission }: KnownEmission) => storedEventId(emitter.id, emission.emit_id);
const feedOf = ({ emitter, channel }: KnownEmission) => `${emitter.id} ${channel}`;

async function findSubscribed(
  platform: Working,
  emissions: KnownEmission[],
): Promise<Map<string, Subscription[]>> {
  const feeds = new Map(emissions.map(one => [feedOf(one), one]));
  return await platform.routing.lookUp(
    "subscriptions",
    [...feeds.keys()],
    async missing => {
      const found = missing.map(async feed => {
        const { emitter, channel } = feeds.get(feed) as KnownEmission;
        return [feed, await findSubscriptions(platform, emitter, channel)] as const;
      });
      return new Map(await Promise.all(found));
    },
    (_, feed) => [feeds.get(feed)?.emitter.owner_id ?? ""],
  );
}

function storedEvent(
  platform: Working,
  one: AppendedEmission,
  subscriptions: Subscription[],
  earlierId: string | undefined,
  trace: TraceContext | undefined,
): StoredEvent {
  const eventId = earlierId ?? one.eventId;
  const goesToWebhooks = subscriptions.some(({ listener_id }) => receivesDeliveries(listener_id));
  return {
    _id: storedId(one),
    emitter_id: one.emitter.id,
    owner_id: one.emitter.owner_id,
    event_id: eventId,
    score: eventScore(eventId) ?? 0,
    name: one.channel,
    event: one.json.text,
    has_webhook_listeners: goesToWebhooks,
    ...(goesToWebhooks && searchedBy(platform, one.json)),
    created_at: new Date(platform.clock()),
    ...(one.emission.requested_at_ms !== undefined && { has_caller_id: true as const }),
    ...(trace !== undefined && { trace }),
    ...hopsField(one.emission),
  };
}

/** Whether the first attempts of an event must be enqueued, which an earlier try may have done. */
async function howToDispatch(
  platform: Working,
  { isNew }: AppendedEmission,
  earlier: EarlierEvent | undefined,
  mayDefer: boolean,
): Promise<EmittedEvent["dispatch"]> {
  if (earlier) {
    if (earlier.jobId === undefined) return "skip";
    const state = await jobState(platform, deliveries, earlier.jobId);
    return state === "live" ? "skip" : "redispatch";
  }
  if (isNew) return "new";
  return mayDefer ? "defer" : "redispatch";
}

async function countDrops(platform: Working, events: EmittedEvent[]): Promise<void> {
  const drops = new Map<string, { emitterId: string; reason: DropReason; count: number }>();
  const count = (emitterId: string, reason: DropReason, by: number) => {
    if (by === 0) return;
    const key = `${emitterId} ${reason}`;
    drops.set(key, { emitterId, reason, count: (drops.get(key)?.count ?? 0) + by });
  };
  for (const { isNew, emitter, subscriptions, looped, filtered, truncated } of events) {
    // An alert is for the account's people first; nothing is lost without a listener.
    if (!isNew || emitter.id === emitter.owner_id) continue;
    if (subscriptions.length + looped + filtered === 0) count(emitter.id, "no-listener", 1);
    count(emitter.id, "filtered", filtered);
    count(emitter.id, "loop", looped);
    // The owner's count was raised together with the summary.
    if (truncated) {
      platform.metrics.count("events_dropped_total", { reason: "truncated" satisfies DropReason });
    }
  }
  await Promise.all(
    [...drops.values()].map(({ emitterId, reason, count: by }) => countDrop(platform, emitterId, reason, by)),
  );
}
