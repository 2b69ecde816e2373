import { newToken } from "../lib/ids.ts";
import { groupBy } from "../lib/lists.ts";
import { Deliveries } from "../models/delivery.ts";
import { type StoredEvent, StoredEvents } from "../models/event.ts";
import type { Queued, Stores } from "../platform.ts";
import { enqueueAll, jobStates } from "../queues/define-queue.ts";
import { deliveries, type FirstAttempts } from "../queues/deliveries.ts";
import { putOffTo } from "../store/sweeps/put-off.ts";
import { repairAll } from "../store/sweeps/repair-each.ts";
import type { SweepBatch, Swept } from "../store/sweeps/sweep-turns.ts";
import { firstDeliveryIds, packEvents, whatIsPending } from "./dispatch/dispatch.ts";

/** Without its payload, which may be half a megabyte. */
type Overdue = Pick<
  StoredEvent,
  "_id" | "event_id" | "emitter_id" | "owner_id" | "name" | "trace" | "pending_dispatch"
>;

/** An event has up to 200 listeners. */
const BATCH = 200;
/** Ids looked up in one query. */
const IDS_PER_QUERY = 2000;

/**
 * Dispatches events again whose job was lost before each first attempt was recorded, as after a loss of Redis, and clears
 * the pending dispatch of events whose attempts are all recorded, which counts as no repair. Each batch is put off, ever
 * longer with the event's age, so the index itself says where the next one begins.
 */
export function beginDispatchSweep(platform: Stores & Queued): SweepBatch {
  const nowMs = platform.clock();
  return () => sweepBatch(platform, nowMs);
}

async function sweepBatch(platform: Stores & Queued, nowMs: number): Promise<Swept> {
  const overdue = await StoredEvents(platform.mongo)
    .find(
      { "pending_dispatch.sweep_at_ms": { $gt: 0, $lte: nowMs } },
      { event_id: 1, emitter_id: 1, owner_id: 1, name: 1, trace: 1, pending_dispatch: 1 },
    )
    .hint("pending_dispatch")
    .sort({ "pending_dispatch.sweep_at_ms": 1 })
    .limit(BATCH)
    .lean<Overdue[]>();
  if (overdue.length === 0) return { repaired: 0, next: null };
  let cleared = 0;
  const repaired = await repairAll(platform, overdue, {
    step: "dispatches",
    idOf: ({ _id }) => _id,
    repair: async some => {
      const unfinished = await withoutLive(platform, some);
      const unrecorded = await withUnrecorded(platform, unfinished);
      cleared += await clear(
        platform,
        unfinished.filter(event => !unrecorded.includes(event)),
      );
      await redispatch(platform, unrecorded);
      return unrecorded.length;
    },
  });
  const moved = await postpone(platform, overdue, nowMs);
  // Without progress the next batch would be this one again.
  return { repaired, next: overdue.length < BATCH || cleared + moved === 0 ? null : "more" };
}

/** Leaves out events whose job still waits or runs. */
async function withoutLive(platform: Stores & Queued, events: Overdue[]): Promise<Overdue[]> {
  const jobIds = [...new Set(events.map(event => event.pending_dispatch?.job_id ?? ""))];
  const states = await jobStates(platform, deliveries, jobIds);
  const live = new Set(jobIds.filter((_, index) => states[index] === "live"));
  return events.filter(event => !live.has(event.pending_dispatch?.job_id ?? ""));
}

/** The events of which not every first attempt is recorded as a delivery of its own. */
async function withUnrecorded(platform: Stores & Queued, events: Overdue[]): Promise<Overdue[]> {
  const expected = events.map(firstDeliveryIds);
  const ids = expected.flat();
  const recorded = new Set<string>();
  for (let at = 0; at < ids.length; at += IDS_PER_QUERY) {
    const found = await Deliveries(platform.mongo)
      .find({ _id: { $in: ids.slice(at, at + IDS_PER_QUERY) } }, { _id: 1 })
      .lean();
    for (const { _id } of found) recorded.add(_id);
  }
  return events.filter((_, index) => expected[index]?.some(id => !recorded.has(id)));
}

async function clear(platform: Stores & Queued, events: Overdue[]): Promise<number> {
  if (events.length === 0) return 0;
  const { modifiedCount } = await StoredEvents(platform.mongo).updateMany(
    { _id: { $in: events.map(({ _id }) => _id) } },
    { $unset: { pending_dispatch: 1 } },
  );
  return modifiedCount;
}

/** Under new job ids, since an old job may be kept as failed; the ids are stored first, so that nothing is done twice. */
async function redispatch(platform: Stores & Queued, events: Overdue[]): Promise<void> {
  if (events.length === 0) return;
  const ofAccounts = [...groupBy(events, ({ owner_id }) => owner_id).values()];
  const packed = ofAccounts
    .flatMap(ofOne => packEvents(ofOne, event => whatIsPending(event).listeners.length))
    .map(some => ({ job_id: newToken(), events: some }));
  await StoredEvents(platform.mongo).bulkWrite(
    packed.flatMap(({ job_id, events: some }) =>
      some.map(({ _id, pending_dispatch }) => ({
        updateOne: {
          filter: { _id, "pending_dispatch.job_id": pending_dispatch?.job_id },
          update: { $set: { "pending_dispatch.job_id": job_id } },
        },
      })),
    ),
    { ordered: false },
  );
  const jobs = packed.map(
    ({ job_id, events: some }): FirstAttempts => ({
      ...{ job_id, is_redispatch: true, account_id: some[0]?.owner_id },
      // Without the payloads: the worker reads them.
      events: some.map(({ _id, event_id, emitter_id, name, trace, pending_dispatch }) => ({
        ...{ id: _id, event_id, emitter_id, name, ...(trace !== undefined && { trace }) },
        ...whatIsPending({ pending_dispatch }),
      })),
    }),
  );
  await enqueueAll(platform.queues, deliveries.jobs["first-attempts"], jobs);
}

/** Returns how many were put off; those without a pending dispatch are left out. */
async function postpone(
  { mongo, config }: Stores & Queued,
  events: Overdue[],
  nowMs: number,
): Promise<number> {
  const toMs = putOffTo(nowMs, { $toLong: "$created_at" }, config.sweepEveryMs);
  const putOff = { at_ms: nowMs, to_ms: toMs };
  const { modifiedCount } = await StoredEvents(mongo).updateMany(
    {
      _id: { $in: events.map(({ _id }) => _id) },
      "pending_dispatch.sweep_at_ms": { $gt: 0, $lte: nowMs },
    },
    [{ $set: { "pending_dispatch.sweep_at_ms": toMs, "pending_dispatch.put_off": putOff } }],
    { hint: { _id: 1 }, updatePipeline: true },
  );
  return modifiedCount;
}
