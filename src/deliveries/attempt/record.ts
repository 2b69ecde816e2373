import { issueIdOf } from "../../issues/cause.ts";
import { issueCountsOf } from "../../issues/issue-counts.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { groupBy } from "../../lib/lists.ts";
import {
  type AttemptRecord,
  Deliveries,
  type Delivery,
  type EndReason,
  MAX_ATTEMPTS_KEPT,
  NO_FURTHER_ATTEMPT,
} from "../../models/delivery.ts";
import type { Observed, Stores, Working } from "../../platform.ts";
import { insertMissing } from "../../store/connections/mongo.ts";
import { countDrop, type DropReason } from "../../store/events/drops.ts";
import type { Attempted } from "./attempt.ts";
import { alertOfExhausted } from "./failed-alert.ts";
import { drainWhenDue, dueFields } from "./next-attempt.ts";
import type { UnsentReason } from "./prepare.ts";

/** Attempts recorded in one write. */
export const RECORDS_PER_WRITE = 200;

/** An attempt to be recorded with its delivery. */
export interface ToRecord extends Attempted {
  /** As it was when the attempt began. */
  delivery: Delivery;
}

/**
 * Records later attempts and what follows from each, all in one round trip, and then has webhooks drained when the next attempts
 * are due: a crash between the two leaves pending deliveries that the sweep finds. Returns false for a delivery that had
 * moved on (a manual retry, a cancellation); then only the attempt is recorded. Safe to repeat after a failure.
 */
export async function recordLaterAttempts(platform: Working, attempted: ToRecord[]): Promise<boolean[]> {
  await alertOfExhausted(platform, attempted);
  const recorded = await writeAttempts(platform, attempted);
  failpoint("retry-recorded");
  countFailures(platform, attempted);
  const rows = attempted.filter((_, i) => recorded[i]).map(one => rowAfter(platform, one));
  await goOn(platform, rows);
  return recorded;
}

/** Writes each attempt to its delivery, with what follows unless the delivery had moved on; returns false if it had. */
async function writeAttempts(platform: Working, attempted: ToRecord[]): Promise<boolean[]> {
  const model = Deliveries(platform.mongo);
  const pushed = (one: ToRecord) => ({
    attempts: { $each: [attemptRecord(one)], $slice: -MAX_ATTEMPTS_KEPT },
  });
  const { matchedCount } = await model.bulkWrite(
    attempted.map(one => {
      const { _id, generation, retry_index } = one.delivery;
      const next = { generation: generation + 1, retry_index: retry_index + 1 };
      return {
        updateOne: {
          filter: { _id, state: "pending", generation },
          update: {
            $set: { ...fieldsAfter(platform, one), ...next },
            $unset: { in_flight_until_ms: 1 },
            $push: pushed(one),
          },
        },
      };
    }),
    { ordered: false },
  );
  if (matchedCount === attempted.length) return attempted.map(() => true);
  const isWritten = await findWritten(platform, attempted);
  const recorded = attempted.map(isWritten);
  const late = attempted.filter((_, i) => !recorded[i]);
  if (late.length > 0) {
    await model.bulkWrite(
      late.map(one => ({ updateOne: { filter: { _id: one.delivery._id }, update: { $push: pushed(one) } } })),
      { ordered: false },
    );
  }
  return recorded;
}

/** MongoDB says how many of the writes found their delivery, and not which ones did. */
async function findWritten(platform: Working, attempted: ToRecord[]): Promise<(one: ToRecord) => boolean> {
  const rows = await Deliveries(platform.mongo)
    .find(
      { _id: { $in: attempted.map(({ delivery }) => delivery._id) } },
      { "attempts.number": 1, "attempts.at_ms": 1 },
    )
    .lean<Pick<Delivery, "_id" | "attempts">[]>();
  const attempts = new Map(rows.map(({ _id, attempts }) => [_id, attempts]));
  return ({ delivery, number, startedAtMs }) =>
    attempts.get(delivery._id)?.some(one => one.number === number && one.at_ms === startedAtMs) ?? false;
}

/** A delivery as it is once an attempt of it is recorded, with that attempt only. */
const rowAfter = (platform: Working, one: ToRecord): Delivery => ({
  ...one.delivery,
  ...fieldsAfter(platform, one),
  attempts: [attemptRecord(one)],
  generation: one.delivery.generation + 1,
  retry_index: one.delivery.retry_index + 1,
});

/** Counts those that failed for their issues. */
function countFailures(platform: Stores, attempted: ToRecord[]): void {
  for (const { delivery, cause, response, decision, nowMs } of attempted) {
    if (cause === null) continue;
    issueCountsOf(platform).note({
      ownerId: delivery.owner_id,
      listenerId: delivery.webhook_id,
      deliveryId: delivery._id,
      cause,
      atMs: nowMs,
      status: response.status,
      error: [response.error, response.response].filter(Boolean).join(": "),
      isLast: decision.kind === "failed",
    });
  }
}

/** Notes attempts that were recorded, and has webhooks drained when the next ones are due, unless they are far away. */
async function goOn(platform: Working, rows: Delivery[]): Promise<void> {
  for (const row of rows) noteAttempt(platform, row);
  await drainWhenDue(platform, rows);
}

/**
 * Records first attempts: each delivery becomes a document with the result of its attempt, unless it exists already. Webhooks
 * are drained when the next attempts of those that failed are due.
 */
export async function recordFirstAttempts(platform: Working, attempted: ToRecord[]): Promise<void> {
  await alertOfExhausted(platform, attempted);
  const rows = attempted.map(one => rowAfter(platform, one));
  const inserted = await insertNew(platform, rows);
  failpoint("first-attempts-recorded");
  const isNew = new Set(inserted.map(({ _id }) => _id));
  countFailures(
    platform,
    attempted.filter(({ delivery }) => isNew.has(delivery._id)),
  );
  await goOn(platform, inserted);
}

/** Inserts the deliveries that do not exist yet and returns those. */
export async function insertNew(platform: Stores, rows: Delivery[]): Promise<Delivery[]> {
  if (rows.length === 0) return [];
  const existing = await insertMissing(Deliveries(platform.mongo), rows);
  return rows.filter((_, index) => !existing.has(index));
}

function attemptRecord({ delivery, number, startedAtMs, response }: ToRecord): AttemptRecord {
  return {
    number,
    at_ms: startedAtMs,
    trigger: delivery.trigger,
    status: response.status,
    latency_ms: response.latencyMs,
    error: response.error,
    response: response.response,
    ...(response.output !== undefined && { output: response.output }),
  };
}

function fieldsAfter(platform: Stores, { delivery, decision, nowMs, cause }: ToRecord): Partial<Delivery> {
  const issue = cause !== null && { issue_id: issueIdOf(delivery.webhook_id, cause) };
  if (decision.kind === "retry") {
    return { ...issue, trigger: "schedule", ...dueFields(platform, decision.delayMs, nowMs) };
  }
  return {
    ...issue,
    state: decision.kind,
    reason: decision.kind === "failed" ? decision.reason : null,
    ...NO_FURTHER_ATTEMPT,
    finished_at_ms: nowMs,
  };
}

/** Fields of a delivery that ends without another attempt: cancelled if its listener was taken away or wants none, else failed. */
function endedFields(reason: EndReason, nowMs: number) {
  const isCancelled =
    reason === "webhook-deleted" ||
    reason === "subscription-deleted" ||
    reason === "access-lost" ||
    reason === "by-request" ||
    reason === "dropped-by-function";
  return {
    state: isCancelled ? ("cancelled" as const) : ("failed" as const),
    reason,
    ...NO_FURTHER_ATTEMPT,
    finished_at_ms: nowMs,
  };
}

const DROP_REASONS: Record<UnsentReason, DropReason> = {
  "webhook-disabled": "webhook-disabled",
  "webhook-deleted": "listener-absent",
  "access-lost": "listener-absent",
  "by-request": "cancelled",
  "subscription-deleted": "unsubscribed",
  "payload-gone": "payload-gone",
  "dropped-by-function": "dropped-by-function",
};

/** A delivery that is not sent. */
export interface Unsent {
  delivery: Delivery;
  reason: UnsentReason;
}

/** Counts and logs deliveries that are not sent, where the emitter's owner sees them (docs/design.md#guarantee-8). */
export async function countUnsent(platform: Stores & Observed, unsent: Unsent[]): Promise<void> {
  for (const { delivery, reason } of unsent) {
    noteEnded(platform, endedDelivery({ delivery, reason }, platform.clock()));
    const { _id: delivery_id, webhook_id, event_id, emitter_id } = delivery;
    platform.metrics.count("deliveries_total", { outcome: endedFields(reason, 0).state });
    platform.log.info({ delivery_id, webhook_id, event_id, emitter_id, result: reason }, "delivery not sent");
    await countDrop(platform, emitter_id, DROP_REASONS[reason]);
  }
}

/** A delivery as it is recorded when it ends without an attempt. */
export const endedDelivery = ({ delivery, reason }: Unsent, nowMs: number): Delivery => ({
  ...delivery,
  ...endedFields(reason, nowMs),
});

/** Ends a pending delivery without another attempt, and counts it. Returns false, and does nothing, if it has moved on. */
export async function endDelivery(
  platform: Working,
  delivery: Delivery,
  reason: UnsentReason,
): Promise<boolean> {
  const fields = endedFields(reason, platform.clock());
  const { matchedCount } = await Deliveries(platform.mongo).updateOne(
    { _id: delivery._id, state: "pending", generation: delivery.generation },
    { $set: fields },
  );
  if (matchedCount > 0) await countUnsent(platform, [{ delivery, reason }]);
  return matchedCount > 0;
}

/** Records first attempts whose events their function dropped; many at a time, since it may drop most of them. */
export async function recordDropped(platform: Working, deliveries: Delivery[]): Promise<void> {
  const now = platform.clock();
  const rows = deliveries.map(delivery => endedDelivery({ delivery, reason: "dropped-by-function" }, now));
  const inserted = await insertNew(platform, rows);
  for (const row of inserted) {
    noteEnded(platform, row);
    platform.metrics.count("deliveries_total", { outcome: row.state });
  }
  for (const [emitterId, ofEmitter] of groupBy(inserted, ({ emitter_id }) => emitter_id)) {
    await countDrop(platform, emitterId, "dropped-by-function", ofEmitter.length);
  }
}

/** A delivery as live views receive it: with its last attempt, and without what the endpoint responded. */
function shown({ attempts, ...delivery }: Delivery): Delivery {
  const last = attempts.slice(-1).map(({ output: _output, ...attempt }) => ({ ...attempt, response: "" }));
  return { ...delivery, attempts: last };
}

/** Counts the last attempt of a delivery for its webhook, its emitter and its account, and shows it to live views. */
function noteAttempt({ activity }: Observed, delivery: Delivery): void {
  const { _id, owner_id, webhook_id, emitter_id, state, attempts } = delivery;
  const latencyMs = attempts.at(-1)?.latency_ms;
  const outcome = state === "pending" ? "retried" : state;
  activity.count([owner_id, webhook_id, emitter_id], ["attempts", outcome], latencyMs);
  activity.show(owner_id, "deliveries", _id, () => shown(delivery));
}

/** Counts a delivery that ended without another attempt. */
function noteEnded({ activity }: Observed, delivery: Delivery): void {
  const { _id, owner_id, webhook_id, emitter_id, state } = delivery;
  if (state !== "pending") activity.count([owner_id, webhook_id, emitter_id], [state]);
  activity.show(owner_id, "deliveries", _id, () => shown(delivery));
}

/** Shows a delivery that was changed by hand. */
export function noteChange({ activity }: Observed, delivery: Delivery): void {
  activity.show(delivery.owner_id, "deliveries", delivery._id, () => shown(delivery));
}
