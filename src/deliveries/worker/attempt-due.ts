import { failpoint } from "../../lib/failpoint.ts";
import { eventMs } from "../../lib/ids.ts";
import type { Delivery } from "../../models/delivery.ts";
import type { Calling, Working } from "../../platform.ts";
import { traceField } from "../../tracing/trace-context.ts";
import { type Attempted, failedAttempt, makeAttempt } from "../attempt/attempt.ts";
import { endDelivery } from "../attempt/record.ts";
import { NoPermit } from "../limits/permit-cache.ts";
import { putOff } from "./put-off.ts";
import {
  type Admit,
  type Attempt,
  type Due,
  type LogFields,
  newRow,
  rowOf,
  type SharedByAttempts,
} from "./shared.ts";
import { FUNCTION_LATER_MS, type Transformed } from "./transform.ts";

/**
 * Makes one attempt, the first or a later one, and records it: transform → admit → send → decide → record. Returns its
 * result; `waits` if it is due and was not admitted. Throws `unavailable` if a store is away, or if `signal` aborts it.
 */
export async function attemptDue(
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
      failedAttempt(platform, attempt.webhook, unsendable, shared),
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
  };
  observeLateness(platform, attempt);
  return await makeAttempt(platform, { webhook, message, retryIndex }, signal, shared);
}

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
