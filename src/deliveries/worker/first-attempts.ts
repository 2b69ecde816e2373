import { setMaxListeners } from "node:events";
import { settlesWithin } from "../../lib/deadline.ts";
import { eventMs } from "../../lib/event-id.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { groupBy } from "../../lib/group-by.ts";
import type { Delivery } from "../../models/delivery.ts";
import { type FirstAttempts, nextAttemptOf } from "../../queues/deliveries.ts";
import { enqueueDrain } from "../../queues/enqueue-drain.ts";
import { Snooze } from "../../queues/snooze.ts";
import { traceField } from "../../tracing/trace-context.ts";
import { type Attempted, failedAttempt, makeAttempt } from "../attempt/attempt.ts";
import { countUnsent, endDelivery, endedDelivery, insertNew, type ToRecord } from "../attempt/record.ts";
import { deliveryId, newDelivery } from "../dispatch/create.ts";
import type { ClearPendingDispatch } from "../dispatch/outbox.ts";
import type { InFlight } from "../limits/in-flight.ts";
import { BUSY, NoPermit, type PermitCache } from "../limits/permit-cache.ts";
import { permitTtlMs } from "../limits/permits.ts";
import { isRateLimited, type RateLimits } from "../limits/rate.ts";
import type { AttemptTools } from "./attempt-tools.ts";
import type { DeliveryDeps, LogFields } from "./deps.ts";
import { DETACH_MS, type Detached } from "./detached.ts";
import { type LoadedFirstAttempts, loadFirstAttempts, type ToSend } from "./load-first-attempts.ts";
import { SETTLE_MS } from "./ordered.ts";
import { repeatAttempt } from "./repeat-attempt.ts";
import { FUNCTION_LATER_MS, type Transformed } from "./transform.ts";

/** What the attempts of one process share. */
export interface SharedByAttempts extends AttemptTools {
  detached: Detached;
  inFlight: InFlight;
  permitCache: PermitCache;
  rateLimits: RateLimits;
  /** Parks first attempts on their webhook's waitlist, many at a time. */
  park: (waiting: ToSend) => Promise<void>;
  /** Records first attempts whose events their function dropped, many at a time. */
  recordDropped: (dropped: Delivery) => Promise<void>;
  clearPendingDispatch: ClearPendingDispatch;
  /** Records first attempts, many at a time. */
  record: (attempted: ToRecord) => Promise<void>;
}

/**
 * How much later a job comes again whose attempts got no permit (`saturated`), or no turn of their function: each time after a
 * longer pause, up to this. Milliseconds.
 */
const AGAIN_MS = { saturated: 2000, "function-later": 15_000 };
const againMs = (attemptsStarted: number, most: number) =>
  Math.min(250 * 2 ** Math.min(attemptsStarted - 1, 6), most) * (0.75 + Math.random() / 2);

/** A job that was started this often without a free permit has its attempts parked: looking again costs more by then. */
const PARK_AFTER_STARTS = 4;
/**
 * The same while a waitlist gets every permit. It moves, and a delivery that joins it costs several times what a first attempt
 * costs: after a burst at a quick endpoint, all that comes would join it, and it would never become shorter.
 */
const JOIN_WAITLIST_AFTER_STARTS = 8;

/** One first attempt on its way. */
interface FirstAttempt extends ToSend {
  state: "waiting" | "transforming" | "in-flight" | "responded" | "done";
  /** Set once the delivery is a pending document: then the attempt's result is recorded there. */
  pending?: Promise<Delivery>;
  /** Whether it is parked if it gets no permit for this reason; otherwise it comes again with its job. */
  mayPark: Record<NoPermit["reason"], boolean>;
  /** What its function makes of the event; undefined without a function. */
  transformed: Promise<Transformed> | undefined;
}

/**
 * Handles a `first-attempts` job: makes the attempts that were not made yet, in parallel, and records each when it ends:
 * prepare → send → decide → record. Returns fields for the job's log line. Throws what kept an attempt from being made or
 * recorded: then the job may be started again, and makes what is missing.
 */
export async function makeFirstAttempts(
  platform: DeliveryDeps,
  { job, attemptsStarted, signal }: { job: FirstAttempts; attemptsStarted: number; signal: AbortSignal },
  shared: SharedByAttempts,
): Promise<LogFields> {
  const loaded = await loadFirstAttempts(platform, job, attemptsStarted > 1);
  const { toSend } = loaded;
  const unsent = await recordUnsent(platform, loaded);
  for (const webhook of loaded.orderedWebhooks) await enqueueDrain(platform, webhook, "order", SETTLE_MS);

  const stop = new AbortController();
  // Each attempt in flight listens; Node would warn about more than ten listeners.
  setMaxListeners(0, stop.signal);
  const onAbort = () => stop.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const counts: Record<string, number> = {};
  const mayBeStored = attemptsStarted > 1 || job.is_redispatch === true;
  const transformedOf = startTransforms(shared, toSend, { mayBeStored, signal: stop.signal });
  const attempts = toSend.map((one): FirstAttempt => {
    const { webhook } = one;
    const isSlow = webhook.failing_since_ms !== null || isRateLimited(webhook);
    const mayPark = {
      busy: isSlow || attemptsStarted >= PARK_AFTER_STARTS,
      waitlisted: isSlow || attemptsStarted >= JOIN_WAITLIST_AFTER_STARTS,
    };
    return { ...one, state: "waiting", mayPark, transformed: transformedOf.get(one.deliveryId) };
  });
  const work = attempts.map(async attempt => {
    const result = await makeOne(platform, attempt, stop.signal, shared);
    attempt.state = "done";
    counts[result] = (counts[result] ?? 0) + 1;
  });
  const all = Promise.allSettled(work);
  if (!(await settlesWithin(all, DETACH_MS))) {
    const slow = attempts.filter(({ state }) => state === "in-flight" || state === "transforming");
    await recordPending(platform, slow);
    const repeated = slow.map(attempt =>
      work[attempts.indexOf(attempt)]?.catch(error => repeat(platform, attempt, error, stop.signal)),
    );
    shared.detached.add(Promise.allSettled(repeated), reason => stop.abort(reason));
    // The others wait for a permit, at most for the patience of the permit cache.
    await Promise.allSettled(work.filter((_, i) => !slow.includes(attempts[i] as FirstAttempt)));
    counts.detached = slow.length;
  }
  const failure = await firstFailure(work, attempts);
  signal.removeEventListener("abort", onAbort);
  if (failure !== undefined) throw failure;
  const fields = { ...idsOf(job), events: job.events.length, attempts: attempts.length, unsent, ...counts };
  for (const reason of ["function-later", "saturated"] as const) {
    if (counts[reason]) throw new Snooze(againMs(attemptsStarted, AGAIN_MS[reason]), fields);
  }
  failpoint("attempts-recorded");
  shared.clearPendingDispatch(job.events.map(event => event.id));
  return fields;
}

/** The ids of a job's only event and its only delivery; a job of many names them in a debug line for each attempt. */
function idsOf({ events }: FirstAttempts): LogFields {
  const [event] = events;
  if (!event || events.length > 1) return {};
  const { event_id, emitter_id, listeners } = event;
  const ids = { event_id, emitter_id, ...traceField(event.trace) };
  const [subscriptionId = "", webhook_id] = listeners[0] ?? [];
  if (listeners.length !== 1) return ids;
  return { ...ids, webhook_id, delivery_id: deliveryId(event, subscriptionId) };
}

/** Records what is not sent now, and counts what is not sent at all; returns how many those are. */
async function recordUnsent(
  platform: DeliveryDeps,
  { ended, dropped, ordered }: LoadedFirstAttempts,
): Promise<number> {
  const rows = [...ended.map(one => endedDelivery(one, platform.clock())), ...ordered];
  const inserted = new Set((await insertNew(platform, rows)).map(({ _id }) => _id));
  const unsent = [...ended.filter(({ delivery }) => inserted.has(delivery._id)), ...dropped];
  await countUnsent(platform, unsent);
  return unsent.length;
}

/**
 * Makes one attempt and records it; returns its result. An attempt that gets no permit soon comes again with its job; if
 * it has done so for long, or the webhook fails, and so may not be free for long, or its rate is limited, the attempt is
 * parked on the waitlist.
 */
async function makeOne(
  platform: DeliveryDeps,
  attempt: FirstAttempt,
  signal: AbortSignal,
  shared: SharedByAttempts,
): Promise<string> {
  const { webhook } = attempt;
  const unsendable = attempt.transformed && (await withTransformed(platform, attempt, shared));
  if (unsendable) return unsendable;
  if (shared.rateLimits.isExhausted(webhook)) return await withoutPermit(attempt, BUSY, shared);
  const result = await shared.permitCache.use(webhook, async noteHealth => {
    // Only now: a token acquired early and kept while its owner waits for a permit would be one too many later.
    if (isRateLimited(webhook) && !(await shared.rateLimits.tryAcquire(webhook))) return BUSY;
    const leave = await shared.inFlight.enter(webhook);
    if (!leave) return BUSY;
    try {
      attempt.state = "in-flight";
      const attempted = await send(platform, attempt, signal, shared);
      noteHealth(attempted.decision.kind !== "delivered");
      return attempted;
    } finally {
      leave();
    }
  });
  if (result instanceof NoPermit) return await withoutPermit(attempt, result, shared);
  // The permit is released before the record is written: the endpoint is free for the next attempt.
  return await record(platform, attempt, result, shared);
}

async function withoutPermit(
  attempt: FirstAttempt,
  { reason }: NoPermit,
  shared: SharedByAttempts,
): Promise<string> {
  // One whose function took long has no job that could come again.
  if (!attempt.mayPark[reason] && !attempt.pending) return "saturated";
  await shared.park(attempt);
  return "parked";
}

async function send(
  platform: DeliveryDeps,
  attempt: FirstAttempt,
  signal: AbortSignal,
  shared: SharedByAttempts,
): Promise<Attempted> {
  const { webhook, event, body } = attempt;
  const message = {
    id: attempt.deliveryId,
    eventId: event.event_id,
    emitterId: event.emitter_id,
    eventName: event.name,
    attempt: 1,
    body,
    trace: event.trace,
    hops: event.hops,
  };
  const sinceEventMs = platform.clock() - eventMs(event.event_id);
  platform.metrics.observe("event_first_attempt_seconds", sinceEventMs / 1000);
  return await makeAttempt(platform, { webhook, message, retryIndex: 0 }, signal, shared);
}

/** A job of its own repeats an attempt that failed, by a fault of ours, after its job was over. It holds no permit any more. */
async function repeat(
  platform: DeliveryDeps,
  { pending }: FirstAttempt,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  const delivery = await pending;
  if (delivery) await repeatAttempt(platform, { delivery, job: nextAttemptOf(delivery), error, signal });
}

/** Starts the functions of those attempts that have one, each with all its events; returns what becomes of each, by delivery. */
function startTransforms(
  { transform }: SharedByAttempts,
  toSend: ToSend[],
  options: { mayBeStored: boolean; signal: AbortSignal },
): Map<string, Promise<Transformed>> {
  const started = new Map<string, Promise<Transformed>>();
  const having = toSend.filter(({ functionHash }) => functionHash !== null);
  for (const group of groupBy(having, ({ listener }) => listener.subscriptionId).values()) {
    const all = transform(group, options);
    for (const [i, { deliveryId: id }] of group.entries()) {
      const one = all.then(results => results[i] as Transformed);
      // Awaited by its attempt; until then a rejection without a listener would end the process.
      one.catch(() => undefined);
      started.set(id, one);
    }
  }
  return started;
}

/**
 * Replaces what is sent by what the function made of it. Returns the attempt's result if nothing is to be sent. Throws Snooze if
 * the function had no turn and the attempt's job is over.
 */
async function withTransformed(
  platform: DeliveryDeps,
  attempt: FirstAttempt,
  shared: SharedByAttempts,
): Promise<string | undefined> {
  const startedAtMs = platform.clock();
  attempt.state = "transforming";
  const transformed = (await attempt.transformed) as Transformed;
  attempt.state = "waiting";
  const { event, listener, webhook, deliveryId: id } = attempt;
  if (transformed.kind === "send") {
    attempt.body = transformed.body;
    return undefined;
  }
  if (transformed.kind === "later") {
    if (!attempt.pending) return "function-later";
    throw new Snooze(FUNCTION_LATER_MS, { result: "function-later" });
  }
  if (transformed.kind === "failed") {
    const { error } = transformed;
    const unsendable = { number: 1, retryIndex: 0, startedAtMs, error };
    return await record(platform, attempt, failedAttempt(platform, webhook, unsendable, shared), shared);
  }
  attempt.state = "responded";
  const pending = await attempt.pending;
  if (pending) await endDelivery(platform, pending, "dropped-by-function");
  else await shared.recordDropped(newDelivery(platform, event, listener, webhook, id));
  return "dropped";
}

async function record(
  platform: DeliveryDeps,
  attempt: FirstAttempt,
  attempted: Attempted,
  shared: SharedByAttempts,
): Promise<string> {
  // From here on its record is on the way: it must not become a pending document as well.
  attempt.state = "responded";
  failpoint("attempt-made");
  const { event, listener, webhook, deliveryId: id } = attempt;
  const delivery = newDelivery(platform, event, listener, webhook, id);
  logAttempt(platform, delivery, attempted);
  const pending = await attempt.pending;
  if (pending) {
    await shared.recordLater({ ...attempted, delivery: pending, generation: pending.generation });
  } else {
    await shared.record({ ...attempted, delivery, generation: 0 });
  }
  return attempted.decision.kind;
}

/** Failures at info; successes at debug, because at full load a line for each costs more than 2 % of the CPU time. */
function logAttempt(platform: DeliveryDeps, delivery: Delivery, { decision, response }: Attempted): void {
  const level = decision.kind === "delivered" ? "debug" : "info";
  if (!platform.log.isLevelEnabled(level)) return;
  const { _id: delivery_id, webhook_id, event_id, emitter_id } = delivery;
  const { status, latencyMs, error } = response;
  const fields = {
    ...{ delivery_id, webhook_id, event_id, emitter_id, result: decision.kind },
    ...{ status, latency_ms: latencyMs, attempt_number: 1, ...(error !== null && { error }) },
    ...traceField(delivery.trace),
  };
  platform.log[level](fields, "attempt");
}

/** Turns attempts that last long into pending documents. The sweep checks on them once they must have ended. */
async function recordPending(platform: DeliveryDeps, slow: FirstAttempt[]): Promise<void> {
  const now = platform.clock();
  const rows = slow.map(({ event, listener, webhook, deliveryId: id }) => {
    const until = now + permitTtlMs(platform, webhook);
    const delivery = newDelivery(platform, event, listener, webhook, id);
    return { ...delivery, first_attempt_until_ms: until, sweep_at_ms: until };
  });
  const inserted = insertNew(platform, rows);
  for (const [i, attempt] of slow.entries()) {
    attempt.pending = inserted.then(() => rows[i] as Delivery);
    // Each attempt awaits it when it has ended; a rejection without a listener until then would end the process.
    attempt.pending.catch(() => undefined);
  }
  await inserted;
}

/** The error of the first attempt that failed and is not pending; undefined if none did. */
async function firstFailure(work: Promise<void>[], attempts: FirstAttempt[]): Promise<unknown> {
  for (const [i, one] of work.entries()) {
    if (attempts[i]?.pending) continue;
    try {
      await one;
    } catch (error) {
      return error;
    }
  }
  return undefined;
}
