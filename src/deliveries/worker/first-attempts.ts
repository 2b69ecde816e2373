import { setMaxListeners } from "node:events";
import { failpoint } from "../../lib/failpoint.ts";
import type { Delivery } from "../../models/delivery.ts";
import { enqueueAll } from "../../queues/define-queue.ts";
import { deliveries, type FirstAttempts } from "../../queues/deliveries.ts";
import { enqueueTurn } from "../../queues/enqueue-drain.ts";
import { Postponed } from "../../queues/snooze.ts";
import { countDrop } from "../../store/drops.ts";
import { type MadeAttempt, makeAttempt, type RetryOptions } from "../attempt/attempt.ts";
import { insertNew, type Made, recordAttempt } from "../attempt/record.ts";
import { newDelivery } from "../dispatch/create.ts";
import type { Settle } from "../dispatch/outbox.ts";
import type { Lanes } from "../limits/permit-cache.ts";
import { placeLifeMs } from "../limits/permits.ts";
import { isPaced, type Pace } from "../limits/rate.ts";
import type { DeliveryPlatform } from "./attempt-delivery.ts";
import { findFirstAttempts, type ToSend } from "./load-first-attempts.ts";
import { GRACE_MS } from "./ordered.ts";
import { nextAttempt } from "./park.ts";

export interface FirstOptions extends RetryOptions {
  lanes: Lanes;
  pace: Pace;
  /** Lets first attempts wait at their webhook as deliveries of their own, many at a time. */
  lineUp: (waiting: ToSend) => Promise<void>;
  settle: Settle;
  /** Records first attempts, many at a time. */
  record: (made: Made) => Promise<void>;
  /** Work that goes on after its job; ended with the worker. */
  goOn: (work: Promise<unknown>, stop: (reason: unknown) => void) => void;
}

/**
 * An attempt under way for longer leaves its job: its delivery is recorded as pending, so that no crash loses it, and
 * the job's slot is free for others (design.md, guarantee 5). Milliseconds.
 */
const SLOW_MS = 1000;

/** A webhook with more to deliver than it has places for is looked at again ever less often. */
const crowdedMs = (begun: number) =>
  Math.min(250 * 2 ** Math.min(begun - 1, 6), 15_000) * (0.75 + Math.random() / 2);

/** One first attempt on its way. */
interface Attempt extends ToSend {
  state: "waiting" | "under-way" | "answered" | "done";
  /** Set once the delivery is a pending document: what comes of the attempt is recorded there. */
  pending?: Promise<Delivery>;
}

/**
 * Works a job of first attempts: makes those that were not made yet, side by side, and records each when it ends.
 * Answers fields for the job's log line. Throws what kept an attempt from being made or recorded: the job may be given
 * out again, and makes what is missing then.
 */
export async function attemptFirst(
  platform: DeliveryPlatform,
  { job, begun, signal }: { job: FirstAttempts; begun: number; signal: AbortSignal },
  options: FirstOptions,
): Promise<Record<string, unknown>> {
  const found = await findFirstAttempts(platform, job, begun > 1);
  await insertNew(platform, [...found.failed, ...found.inOrder]);
  for (const webhookId of found.orderedWebhooks) await enqueueTurn(platform, webhookId, "order", GRACE_MS);
  for (const [emitterId, reason, count] of found.dropped) await countDrop(platform, emitterId, reason, count);

  const stop = new AbortController();
  // Each attempt under way listens; Node would warn of more than ten.
  setMaxListeners(0, stop.signal);
  const onAbort = () => stop.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const counts: Record<string, number> = {};
  const attempts = found.toSend.map((one): Attempt => ({ ...one, state: "waiting" }));
  const work = attempts.map(async attempt => {
    const result = await make(platform, attempt, stop.signal, options);
    attempt.state = "done";
    counts[result] = (counts[result] ?? 0) + 1;
  });
  const all = Promise.allSettled(work);
  if (!(await endsWithin(all, SLOW_MS))) {
    const slow = attempts.filter(({ state }) => state === "under-way");
    await keepPending(platform, slow);
    options.goOn(all, reason => stop.abort(reason));
    // The others wait for a place no longer than a lane's patience.
    await Promise.allSettled(work.filter((_, i) => !slow.includes(attempts[i] as Attempt)));
    counts.slow = slow.length;
  }
  const failure = await firstFailure(work, attempts);
  signal.removeEventListener("abort", onAbort);
  if (failure !== undefined) throw failure;
  const fields = { events: job.events.length, attempts: attempts.length, ...counts };
  if (counts.crowded) throw new Postponed(crowdedMs(begun), fields);
  failpoint("attempts-recorded");
  options.settle(job.events.map(event => event.id));
  return fields;
}

/**
 * Makes one attempt and records it. One that finds no place soon comes again with the job, or, where the webhook fails
 * and so may not be free for long, or where its rate is limited, waits in its line as a delivery of its own.
 */
async function make(
  platform: DeliveryPlatform,
  attempt: Attempt,
  signal: AbortSignal,
  options: FirstOptions,
): Promise<string> {
  const { webhook, event, subscriptionId, body } = attempt;
  const place = await begin(attempt, options);
  if (place === null) {
    if (webhook.failing_since_ms === null && !isPaced(webhook)) return "crowded";
    await options.lineUp(attempt);
    return "waiting";
  }
  attempt.state = "under-way";
  const delivery = newDelivery(platform, event, subscriptionId, webhook);
  const message = {
    id: delivery._id,
    eventId: event.event_id,
    emitterId: event.emitter_id,
    eventName: event.name,
    attempt: 1,
    body,
  };
  let made: MadeAttempt | undefined;
  try {
    made = await makeAttempt(platform, { webhook, message, step: 0 }, signal, options);
  } catch (error) {
    const pending = await attempt.pending;
    if (!pending) throw error;
    // Its job is over: it is attempted again as a job of its own.
    await enqueueAll(platform.queues, deliveries, [nextAttempt(pending)]);
    return "again";
  } finally {
    // Before the record is written: the endpoint is free for the next one.
    const isFailing = made?.outcome.kind !== "delivered";
    options.lanes.leave({ ...webhook, failing_since_ms: isFailing ? platform.clock() : null }, place);
  }
  // From here on its record is on the way: it must not become a pending document as well.
  attempt.state = "answered";
  failpoint("attempt-made");
  const pending = await attempt.pending;
  if (pending) await recordAttempt(platform, { ...made, delivery: pending, round: pending.round });
  else await options.record({ ...made, delivery, round: 0 });
  return made.outcome.kind;
}

/** Makes pending documents of attempts that last long. The sweep looks for them when they must have ended. */
async function keepPending(platform: DeliveryPlatform, slow: Attempt[]): Promise<void> {
  const rows = slow.map(({ event, subscriptionId, webhook }) => ({
    ...newDelivery(platform, event, subscriptionId, webhook),
    sweep_at_ms: platform.clock() + placeLifeMs(platform),
  }));
  const inserted = insertNew(platform, rows);
  for (const [i, attempt] of slow.entries()) {
    attempt.pending = inserted.then(() => rows[i] as Delivery);
    // Each attempt hears of it when it has ended; until then nobody waits, which would end the process.
    attempt.pending.catch(() => undefined);
  }
  await inserted;
}

/** A place, and a token where the rate is limited; null when one of them is not there soon. */
async function begin({ webhook }: ToSend, { lanes, pace }: FirstOptions): Promise<string | null> {
  if (!pace.mayBegin(webhook)) return null;
  const place = await lanes.enter(webhook);
  if (place === null || !isPaced(webhook)) return place;
  // Only now: a token taken and kept while its owner waits for a place would be one too many later.
  if (await pace.begin(webhook)) return place;
  lanes.leave(webhook, place);
  return null;
}

async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>(resolve => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const isInTime = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return isInTime;
}

/** Of the attempts that have ended; undefined when none failed. */
async function firstFailure(work: Promise<void>[], attempts: Attempt[]): Promise<unknown> {
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
