import { enqueueEmissionJobs } from "../accepted/keep.ts";
import { AppError } from "../lib/errors.ts";
import { failpoint } from "../lib/failpoint.ts";
import { type RunRecord, RunRecords } from "../models/run.ts";
import type { Queued, Working } from "../platform.ts";
import { type Emission, type EmissionsJob, jobOf, packBySize } from "../queues/emissions.ts";
import type { BeforeWrites } from "../store/connections/replicas.ts";
import { countDrop } from "../store/events/drops.ts";
import { COUNTED_FROM_BYTES, countEmissionBytes } from "../store/limits/waiting-bytes.ts";
import { repairEach } from "../store/sweeps/repair-each.ts";
import type { SweepBatch } from "../store/sweeps/sweep-turns.ts";

/** Runs looked up at a time. */
const BATCH = 50;
/** Jobs enqueued in one round trip: few, so that what others need of the thread and of Redis comes in between. */
const JOBS_PER_ROUND_TRIP = 2;
type Outbox = Pick<RunRecord, "_id" | "source_id" | "owner_id" | "outbox" | "outbox_score">;

/** An emission as the record holds it, and its position in the emitter's order. */
export interface Waiting {
  text: string;
  score: number;
  /** The emission itself, if it is still in memory. */
  emission?: Emission;
}

/** The run that emitted, or the first of several. */
export type Sender = Pick<RunRecord, "_id" | "source_id" | "owner_id">;

/**
 * Enqueues the emissions of a finished run, then marks them as sent. Safe to repeat. An emission that can't be enqueued is
 * given up, logged and counted as `invalid`: its source goes on (docs/design.md#guarantee-8). Returns how many there were.
 * Throws `unavailable`.
 */
export async function sendOutbox(platform: Working, record: Outbox): Promise<number> {
  const outbox = record.outbox ?? [];
  if (outbox.length === 0) return 0;
  // Reserved, so that events keep the order of their emissions although many workers handle them at once. The record has
  // its scores, unless an older version stored it: another sender of the same outbox, at the same time, uses the same.
  const first = record.outbox_score ?? (await platform.eventLog.reserve(record.source_id, outbox.length));
  const before = platform.replicas.begin();
  await enqueueEmissions(
    platform,
    record,
    outbox.map((text, i): Waiting => ({ text, score: first + i })),
  );
  failpoint("outbox-enqueued");
  // They are on their way; the outbox stays until replicas hold them, and the sweep sends it again.
  if (!(await isHeld(platform, before))) return outbox.length;
  // Not by a majority: if a failover loses it, the same emissions are only enqueued once more.
  await RunRecords(platform.mongo).updateOne(
    { _id: record._id },
    { $unset: { outbox: 1, outbox_score: 1 } },
    { writeConcern: { w: 1 } },
  );
  return outbox.length;
}

/** Whether replicas of Redis hold what was enqueued since `before`. */
export async function isHeld({ replicas }: Queued, before: BeforeWrites): Promise<boolean> {
  return await replicas.confirm(before).then(
    () => true,
    () => false,
  );
}

const bytesOf = (waiting: Waiting[]): number => waiting.reduce((sum, { text }) => sum + text.length, 0);

/** Parsed only now, because a parsed value can take twenty times the memory of its text. */
const emissionOf = ({ text, score, emission }: Waiting): Emission => ({
  ...(emission ?? (JSON.parse(text) as Emission)),
  score,
});

/** Enqueues emissions, as `sendOutbox` does. Throws `unavailable`. */
export async function enqueueEmissions(platform: Working, sender: Sender, waiting: Waiting[]): Promise<void> {
  const bytes = bytesOf(waiting);
  const isCounted = bytes >= COUNTED_FROM_BYTES;
  if (isCounted) await countEmissionBytes(platform, sender.owner_id, bytes);
  const jobs = packBySize(waiting, ({ text }) => text.length);
  for (let at = 0; at < jobs.length; at += JOBS_PER_ROUND_TRIP) {
    await enqueueOrGiveUp(platform, sender, jobs.slice(at, at + JOBS_PER_ROUND_TRIP), isCounted);
  }
}

/** Enqueues jobs; if they can't be, each emission by itself, so that a bad one is given up without the others. */
async function enqueueOrGiveUp(
  platform: Working,
  record: Sender,
  jobs: Waiting[][],
  isCounted: boolean,
): Promise<void> {
  const packed = (job: Waiting[]): EmissionsJob => ({
    ...jobOf(job.map(emissionOf), record.owner_id),
    ...(isCounted && { counted: [record.owner_id, bytesOf(job)] }),
  });
  // Asynchronous, so that a text that is not JSON rejects too.
  const enqueueJobs = async (of: Waiting[][]) => await enqueueEmissionJobs(platform, of.map(packed));
  try {
    await enqueueJobs(jobs);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    for (const one of jobs.flat()) {
      await enqueueJobs([[one]]).catch(failure => giveUp(platform, record, one, failure));
    }
  }
}

async function giveUp(platform: Working, record: Sender, { text }: Waiting, error: unknown): Promise<void> {
  if (isUnavailable(error)) throw error;
  const ids = { source_id: record.source_id, run_id: record._id, bytes: text.length };
  platform.log.error({ ...ids, err: error }, "emission can't be enqueued and is given up");
  await countDrop(platform, record.source_id, "invalid");
}

const isUnavailable = (error: unknown) => error instanceof AppError && error.code === "unavailable";

/**
 * Sends the outboxes that a crash between record and enqueue left behind for `graceMs`, by the time of their record. Its
 * cursor is that time and the record's id.
 */
export function beginOutboxSweep(platform: Working, graceMs: number): SweepBatch {
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
async function sendLost(platform: Working, runId: string): Promise<boolean> {
  const record = await RunRecords(platform.mongo).findById(runId).lean();
  return record !== null && (await sendOutbox(platform, record)) > 0;
}
