import { failpoint } from "../lib/failpoint.ts";
import { type RunRecord, RunRecords } from "../models/run.ts";
import type { Platform } from "../platform.ts";
import { enqueueAll } from "../queues/define-queue.ts";
import { type Emission, emissions } from "../queues/emissions.ts";
import { inJobs } from "../queues/publish-emissions.ts";

/** Jobs put on the queue in one round trip; runs looked at in one go. */
const BATCH = 50;

type Stores = Pick<Platform, "mongo" | "queues" | "eventLog" | "clock">;

/** Puts the emissions of finished runs on their queue, then marks them as sent. Safe to repeat. */
export async function sendOutbox(
  platform: Stores,
  record: Pick<RunRecord, "_id" | "source_id" | "outbox">,
): Promise<number> {
  const outbox = record.outbox ?? [];
  if (outbox.length === 0) return 0;
  // In the order they were emitted, although many workers at once take them off the queue.
  const first = await platform.eventLog.reserve(record.source_id, outbox.length);
  const all = outbox.map((text, i) => ({ ...(JSON.parse(text) as Emission), score: first + i }));
  const jobs = inJobs(all);
  for (let at = 0; at < jobs.length; at += BATCH) {
    await enqueueAll(platform.queues, emissions, jobs.slice(at, at + BATCH));
  }
  failpoint("outbox-enqueued");
  // Not for a majority: lost in a failover, the same emissions are only enqueued once more.
  await RunRecords(platform.mongo).updateOne(
    { _id: record._id },
    { $unset: { outbox: 1 } },
    { writeConcern: { w: 1 } },
  );
  return all.length;
}

/** Sends what a crash between record and enqueue left behind. Answers how many runs that were. */
export async function sendForgotten(platform: Stores, olderThanMs: number): Promise<number> {
  const left = await RunRecords(platform.mongo)
    .find({
      "outbox.0": { $exists: true },
      finished_at: { $lt: new Date(platform.clock() - olderThanMs) },
    })
    .hint("outbox")
    .limit(BATCH)
    .lean();
  for (const record of left) await sendOutbox(platform, record);
  return left.length;
}
