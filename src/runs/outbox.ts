import { failpoint } from "../lib/failpoint.ts";
import { type RunRecord, RunRecords } from "../models/run.ts";
import type { Platform } from "../platform.ts";
import { enqueueAll } from "../queues/define-queue.ts";
import { type Emission, type EmissionsJob, emissions } from "../queues/emissions.ts";
import { packEmissions } from "../queues/publish-emissions.ts";
import { COUNTED_FROM_BYTES, countEmissionBytes } from "../store/emission-bytes.ts";

/** Jobs enqueued in one round trip, and runs read at a time. */
const BATCH = 50;

type Deps = Pick<Platform, "mongo" | "queues" | "redis" | "keys" | "eventLog" | "clock">;

/** Enqueues the emissions of a finished run, then marks them as sent. Safe to repeat. Returns how many there were. */
export async function sendOutbox(
  platform: Deps,
  record: Pick<RunRecord, "_id" | "source_id" | "owner_id" | "outbox">,
): Promise<number> {
  const outbox = record.outbox ?? [];
  if (outbox.length === 0) return 0;
  // Reserved, so that events keep the order of their emissions although many workers handle them at once.
  const bytes = outbox.reduce((sum, text) => sum + text.length, 0);
  const isCounted = bytes >= COUNTED_FROM_BYTES;
  const [first] = await Promise.all([
    platform.eventLog.reserve(record.source_id, outbox.length),
    isCounted && countEmissionBytes(platform, record.owner_id, bytes),
  ]);
  const all = outbox.map((text, i) => ({ ...(JSON.parse(text) as Emission), score: first + i }));
  const packed = packEmissions(all);
  const perJob = Math.floor(bytes / packed.length);
  const jobs = isCounted
    ? packed.map((job): EmissionsJob => ({ ...job, counted: [record.owner_id, perJob] }))
    : packed;
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

/** Sends the outboxes that a crash between record and enqueue left behind. Returns how many runs they belong to. */
export async function sendLostOutboxes(platform: Deps, olderThanMs: number): Promise<number> {
  const lost = await RunRecords(platform.mongo)
    .find({
      "outbox.0": { $exists: true },
      finished_at: { $lt: new Date(platform.clock() - olderThanMs) },
    })
    .hint("outbox")
    .limit(BATCH)
    .lean();
  for (const record of lost) await sendOutbox(platform, record);
  return lost.length;
}
