import { setMaxListeners } from "node:events";
import type { StoredAt } from "../../destinations/message.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { eventMs } from "../../lib/ids.ts";
import { groupBy } from "../../lib/lists.ts";
import { settlesWithin } from "../../lib/time.ts";
import type { Delivery } from "../../models/delivery.ts";
import type { Calling, Working } from "../../platform.ts";
import { enqueueDrain } from "../../queues/deliveries.ts";
import { traceField } from "../../tracing/trace-context.ts";
import { type Attempted, failedAttempt, makeAttempt } from "../attempt/attempt.ts";
import { endDelivery } from "../attempt/record.ts";
import { NoPermit } from "../limits/permit-cache.ts";
import {
  type Admit,
  type Attempt,
  type Due,
  type LogFields,
  leaveJob,
  newRow,
  putOff,
  repeatDetached,
  rowOf,
  type SharedByAttempts,
} from "./due.ts";
import { FUNCTION_LATER_MS, type Transformed } from "./transform.ts";

/**
 * An attempt in flight for longer leaves its job: its delivery is a pending document by then, so that no crash loses it, and
 * the job's slot is free for others (docs/design.md#guarantee-5). Milliseconds.
 */
const DETACH_MS = 1000;

interface Options {
  admit: Admit;
  /** False if no attempt of these deliveries was begun before, so that nothing of their functions' results is stored. */
  mayBeStored: boolean;
  /** Stops the attempts for as long as they are made in their job. */
  signal: AbortSignal;
}

/**
 * Makes attempts in parallel, and records each when it ends. Those that take long leave the job: they go on without it, as
 * `detached` ones. Returns how many have which result. Throws what kept an attempt from being made or recorded; then the job is
 * to be started again.
 */
export async function makeAttempts(
  platform: Working & Calling,
  due: Due[],
  { admit, mayBeStored, signal }: Options,
  shared: SharedByAttempts,
): Promise<Record<string, number>> {
  const stop = new AbortController();
  // Each attempt in flight listens; Node would warn about more than ten listeners.
  setMaxListeners(0, stop.signal);
  const onAbort = () => stop.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const counts: Record<string, number> = {};
  const transformedOf = startTransforms(shared, due, { mayBeStored, signal: stop.signal });
  const make = async (attempt: Attempt): Promise<void> => {
    const result = await attemptDue(platform, attempt, { admit, signal: stop.signal }, shared);
    attempt.state = "done";
    counts[result] = (counts[result] ?? 0) + 1;
  };
  const started = due.map(one => {
    const attempt: Attempt = { ...one, state: "waiting", transformed: transformedOf.get(one.deliveryId) };
    return { attempt, work: make(attempt) };
  });
  let inJob = started;
  try {
    if (!(await settlesWithin(allEnded(started), DETACH_MS))) {
      const slow = started.filter(
        ({ attempt }) => attempt.state === "in-flight" || attempt.state === "transforming",
      );
      await leaveJob(
        platform,
        slow.map(({ attempt }) => attempt),
      );
      const goOn = slow.map(one => goOnWithoutJob(platform, one, stop.signal));
      shared.detached.add(Promise.allSettled(goOn), reason => stop.abort(reason));
      counts.detached = slow.length;
      inJob = started.filter(one => !slow.includes(one));
    }
    // The others wait to be admitted, which takes seconds at most.
    const failed = (await allEnded(inJob)).find(({ status }) => status === "rejected");
    if (failed) throw (failed as PromiseRejectedResult).reason;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
  return counts;
}

interface Started {
  attempt: Attempt;
  work: Promise<void>;
}

const allEnded = (started: Started[]) => Promise.allSettled(started.map(({ work }) => work));

/** Waits for an attempt that has left its job; what waits behind it at its webhook is due then. */
async function goOnWithoutJob(
  platform: Working & Calling,
  { attempt, work }: Started,
  signal: AbortSignal,
): Promise<void> {
  try {
    await work;
    if (attempt.row) await enqueueDrain(platform, attempt.webhook);
  } catch {
    await repeatDetached(platform, attempt, signal);
  }
}

/** Starts the functions of those attempts that have one, each with all its events; returns what becomes of each, by delivery. */
function startTransforms(
  { transform }: SharedByAttempts,
  due: Due[],
  options: { mayBeStored: boolean; signal: AbortSignal },
): Map<string, Promise<Transformed>> {
  const started = new Map<string, Promise<Transformed>>();
  // What a function made for an earlier attempt is sent again, even if the subscription has none any more.
  const having = due.filter(
    ({ functionHash, row }) => functionHash !== null || row?.function_hash !== undefined,
  );
  const byFunction = groupBy(
    having,
    ({ listener, functionHash }) => `${listener.subscriptionId} ${functionHash}`,
  );
  for (const group of byFunction.values()) {
    const all = transform(group, options);
    for (const [i, { deliveryId }] of group.entries()) {
      const one = all.then(results => results[i] as Transformed);
      // Awaited by its attempt; until then a rejection without a listener would end the process.
      one.catch(() => undefined);
      started.set(deliveryId, one);
    }
  }
  return started;
}

/** Attempts that are still in flight although their jobs are over. */
export class Detached {
  readonly #work = new Map<Promise<unknown>, (reason: unknown) => void>();

  /** Lets work outlive its job; `stop` ends it with the worker. */
  add(work: Promise<unknown>, stop: (reason: unknown) => void): void {
    this.#work.set(work, stop);
    const forget = () => this.#work.delete(work);
    work.then(forget, forget);
  }

  /** Waits for what is in flight; after `deadlineMs` it is stopped, and stays pending. */
  async close(deadlineMs: number): Promise<void> {
    if (await settlesWithin(Promise.allSettled([...this.#work.keys()]), deadlineMs)) return;
    for (const stop of this.#work.values()) stop(new Error("the worker is stopping"));
    await Promise.allSettled([...this.#work.keys()]);
  }
}

/**
 * Makes one attempt, the first or a later one, and records it: transform → admit → send → decide → record. Returns its
 * result; `waits` if it is due and was not admitted. Throws `unavailable` if a store is away, or if `signal` aborts it.
 */
async function attemptDue(
  platform: Working & Calling,
  attempt: Attempt,
  { admit, signal }: { admit: Admit; signal: AbortSignal },
  shared: SharedByAttempts,
): Promise<string> {
  const unsent = attempt.transformed && (await transform(platform, attempt, shared));
  if (unsent) return unsent;
  const attempted = await admit(attempt.webhook, async () => {
    attempt.state = "in-flight";
    return await send(platform, attempt, signal, shared);
  });
  if (attempted instanceof NoPermit) {
    await putOff(platform, attempt, 0, shared);
    return "waits";
  }
  // The permit is released before the record is written: the endpoint is free for the next attempt.
  return await record(platform, attempt, attempted, shared);
}

/** Replaces what is sent by what the function made of it. Returns the attempt's result if nothing is to be sent. */
async function transform(
  platform: Working & Calling,
  attempt: Attempt,
  shared: SharedByAttempts,
): Promise<string | undefined> {
  const startedAtMs = platform.clock();
  attempt.state = "transforming";
  const transformed = (await attempt.transformed) as Transformed;
  attempt.state = "waiting";
  if (transformed.kind === "send") {
    attempt.body = transformed.body;
    return undefined;
  }
  attempt.state = "responded";
  if (transformed.kind === "later") {
    await putOff(platform, attempt, FUNCTION_LATER_MS, shared);
    return "function-later";
  }
  if (transformed.kind === "failed") {
    const unsendable = { ...place(attempt), startedAtMs, error: transformed.error };
    return await record(
      platform,
      attempt,
      await failedAttempt(platform, attempt.webhook, unsendable, shared),
      shared,
    );
  }
  const row = await rowOf(attempt);
  if (row) await endDelivery(platform, row, "dropped-by-function");
  else await shared.recordDropped(newRow(platform, attempt));
  return "dropped";
}

async function send(
  platform: Working & Calling,
  attempt: Attempt,
  signal: AbortSignal,
  shared: SharedByAttempts,
): Promise<Attempted> {
  const { webhook, event, body, deliveryId: id } = attempt;
  const { number, retryIndex } = place(attempt);
  const message = {
    ...{ id, eventId: event.event_id, emitterId: event.emitter_id, eventName: event.name },
    ...{ attempt: number, body, trace: event.trace, hops: event.hops },
    ...(webhook.kind === "pull" && { stored: storedOf(attempt) }),
  };
  observeLateness(platform, attempt);
  return await makeAttempt(platform, { webhook, message, retryIndex }, signal, shared);
}

/** Where the event is, for a destination that keeps no more of it. */
const storedOf = ({ event, listener, row, transformed }: Attempt): StoredAt => ({
  emit_id: event.id,
  subscription_id: listener.subscriptionId,
  subscriber_id: row?.subscriber_id ?? listener.ownerId,
  is_transformed: transformed !== undefined,
  // Both grow by one with each automatic retry.
  schedule: row === undefined ? 0 : row.generation - row.retry_index,
});

async function record(
  platform: Working & Calling,
  attempt: Attempt,
  attempted: Attempted,
  shared: SharedByAttempts,
): Promise<string> {
  // From here on its record is on the way: it must not become a pending document as well.
  attempt.state = "responded";
  failpoint("attempt-made");
  const row = await rowOf(attempt);
  const delivery = row ?? newRow(platform, attempt);
  logAttempt(platform, delivery, attempted);
  if (row) await shared.recordLater({ ...attempted, delivery });
  else await shared.record({ ...attempted, delivery });
  return attempted.decision.kind;
}

/** The attempt's number, and how many attempts precede it since the retry schedule started. */
const place = ({ row }: Due): { number: number; retryIndex: number } => ({
  number: (row?.attempts.at(-1)?.number ?? 0) + 1,
  retryIndex: row?.retry_index ?? 0,
});

/** A first attempt counts from its event, a later one from when it was due. */
function observeLateness(platform: Working & Calling, { row, event }: Due): void {
  const now = platform.clock();
  if (row === undefined || row.attempts.length === 0) {
    const sinceEventMs = now - eventMs(event.event_id);
    platform.metrics.observe("event_first_attempt_seconds", sinceEventMs / 1000);
  } else {
    const lateMs = now - (row.next_attempt_at_ms ?? now);
    platform.metrics.observe("delivery_lateness_seconds", lateMs / 1000);
  }
}

/** Failures at info; successes at debug, because at full load a line for each costs more than 2 % of the CPU time. */
function logAttempt(platform: Working & Calling, delivery: Delivery, attempted: Attempted): void {
  const level = attempted.decision.kind === "delivered" ? "debug" : "info";
  if (!platform.log.isLevelEnabled(level)) return;
  platform.log[level]({ webhook_id: delivery.webhook_id, ...attemptFields(delivery, attempted) }, "attempt");
}

/** What log lines say of an attempt, and of the delivery that it was for. */
export function attemptFields(
  { _id: delivery_id, event_id, emitter_id, trace }: Delivery,
  { decision, response, number }: Attempted,
): LogFields {
  const { status, latencyMs, error } = response;
  return {
    ...{ delivery_id, event_id, emitter_id, result: decision.kind },
    ...{ status, latency_ms: latencyMs, attempt_number: number, ...(error !== null && { error }) },
    ...traceField(trace),
  };
}
