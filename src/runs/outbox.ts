import { failpoint } from "../lib/failpoint.ts";
import { type RunRecord, RunRecords } from "../models/run.ts";
import type { Platform } from "../platform.ts";
import { enqueueAll } from "../queues/define-queue.ts";
import { type Emission, emissions } from "../queues/emissions.ts";
import { packEmissions } from "../queues/publish-emissions.ts";
import { repairEach } from "../store/repair-each.ts";
import type { SweepBatch } from "../store/sweep-turns.ts";

/** Jobs enqueued in one round trip, and runs looked up at a time. */
const BATCH = 50;

type Deps = Pick<Platform, "mongo" | "queues" | "eventLog" | "clock">;
type SweepDeps = Deps & Pick<Platform, "redis" | "keys" | "log">;

/** Enqueues the emissions of a finished run, then marks them as sent. Safe to repeat. Returns how many there were. */
export async function sendOutbox(
  platform: Deps,
  record: Pick<RunRecord, "_id" | "source_id" | "outbox">,
): Promise<number> {
  const outbox = record.outbox ?? [];
  if (outbox.length === 0) return 0;
  // Reserved, so that events keep the order of their emissions although many workers handle them at once.
  const first = await platform.eventLog.reserve(record.source_id, outbox.length);
  const all = outbox.map((text, i) => ({ ...(JSON.parse(text) as Emission), score: first + i }));
  const jobs = packEmissions(all);
  for (let at = 0; at < jobs.length; at += BATCH) {
    await enqueueAll(platform.queues, emissions.jobs.emissions, jobs.slice(at, at + BATCH));
  }
  failpoint("outbox-enqueued");
  // Not by a majority: if a failover loses it, the same emissions are only enqueued once more.
  await RunRecords(platform.mongo).updateOne(
    { _id: record._id },
    { $unset: { outbox: 1 } },
    { writeConcern: { w: 1 } },
  );
  return all.length;
}

/**
 * Sends the outboxes that a crash between record and enqueue left behind for `graceMs`, by the time of their record. Its
 * cursor is that time and the record's id.
 */
export function beginOutboxSweep(platform: SweepDeps, graceMs: number): SweepBatch {
  const before = new Date(platform.clock() - graceMs);
  return async cursor => {
    const [atMs = "0", afterId = ""] = cursor?.split(" ") ?? [];
    const after = new Date(Number(atMs));
    const lost = await RunRecords(platform.mongo)
      .find(
        {
          "outbox.0": { $exists: true },
          finished_at: { $gte: after, $lt: before },
          $or: [{ finished_at: { $gt: after } }, { _id: { $gt: afterId } }],
        },
        { finished_at: 1 },
      )
      .hint("unsent")
      .sort({ finished_at: 1, _id: 1 })
      .limit(BATCH)
      .lean();
    const repaired = await repairEach(platform, lost, {
      step: "outboxes",
      idOf: ({ _id }) => _id,
      repair: ({ _id }) => sendLost(platform, _id),
    });
    const last = lost.at(-1);
    const isEnd = !last || lost.length < BATCH;
    return { repaired, next: isEnd ? null : `${last.finished_at.getTime()} ${last._id}` };
  };
}

/** Read one at a time: an outbox may be 8 MB. */
async function sendLost(platform: SweepDeps, runId: string): Promise<boolean> {
  const record = await RunRecords(platform.mongo).findById(runId).lean();
  return record !== null && (await sendOutbox(platform, record)) > 0;
}
