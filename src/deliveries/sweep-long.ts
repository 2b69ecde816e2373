import { LIMITS } from "../limits/catalogue.ts";
import { type Replay, Replays } from "../models/replay.ts";
import { type Webhook, Webhooks } from "../models/webhook.ts";
import type { Queued, Stores } from "../platform.ts";
import { enqueue, jobState, openedQueue } from "../queues/define-queue.ts";
import { deliveries, recoverJobId, replayJobId } from "../queues/deliveries.ts";
import { removeJob } from "../queues/shards.ts";
import { repairEach } from "../store/sweeps/repair-each.ts";
import type { SweepBatch } from "../store/sweeps/sweep-turns.ts";

const BATCH = 200;

/**
 * Enqueues replays that have been running for `graceMs` and have no job: it was lost with Redis, or given up. They go on
 * where their last batch ended (docs/design.md#guarantee-2). One whose job was given up `LIMITS.replayFailures` times
 * since then is failed.
 */
export function beginReplaySweep(platform: Stores & Queued, graceMs: number): SweepBatch {
  const before = (platform.clock() - graceMs) / 1000;
  return async cursor => {
    const running: Pick<Replay, "_id" | "owner_id" | "created_at" | "failures">[] = await Replays(
      platform.mongo,
    )
      .find({ state: "running", _id: { $gt: cursor ?? "" } }, { owner_id: 1, created_at: 1, failures: 1 })
      .sort({ _id: 1 })
      .limit(BATCH)
      .lean();
    const old = running.filter(({ created_at }) => created_at < before);
    const repaired = await repairEach(platform, old, {
      step: "replays",
      idOf: ({ _id }) => _id,
      repair: async ({ _id, owner_id, failures = 0 }) => {
        const job = { replay_id: _id, account_id: owner_id };
        return await goOn(platform, replayJobId(job), failures, {
          enqueue: () => enqueue(platform.queues, deliveries.jobs.replay, job),
          note: changes =>
            Replays(platform.mongo).updateOne(
              { _id, state: "running" },
              { $set: { ...changes, ...reasonOf(changes) } },
            ),
        });
      },
    });
    return { repaired, next: running.length < BATCH ? null : (running.at(-1)?._id ?? null) };
  };
}

const reasonOf = ({ state, failures }: GivenUp) =>
  state && { reason: `its job failed ${failures} times in a row; the operator of this server sees why` };

/** The same for webhooks whose failed deliveries are being retried. */
export function beginRecoverySweep(platform: Stores & Queued, graceMs: number): SweepBatch {
  const before = platform.clock() - graceMs;
  return async cursor => {
    const running: Pick<Webhook, "_id" | "owner_id" | "recovery">[] = await Webhooks(platform.mongo)
      .find({ "recovery.state": "running", _id: { $gt: cursor ?? "" } }, { owner_id: 1, recovery: 1 })
      .sort({ _id: 1 })
      .limit(BATCH)
      .lean();
    const old = running.filter(({ recovery }) => recovery && recovery.started_at_ms < before);
    const repaired = await repairEach(platform, old, {
      step: "recoveries",
      idOf: ({ _id }) => _id,
      repair: async ({ _id, owner_id, recovery }) => {
        const job = { webhook_id: _id, recovery_id: recovery?.id ?? "", account_id: owner_id };
        return await goOn(platform, recoverJobId(job), recovery?.failures ?? 0, {
          enqueue: () => enqueue(platform.queues, deliveries.jobs.recover, job),
          note: changes => {
            const fields = Object.entries(changes).map(([name, value]) => [`recovery.${name}`, value]);
            return Webhooks(platform.mongo).updateOne(
              { _id, "recovery.id": job.recovery_id, "recovery.state": "running" },
              { $set: Object.fromEntries(fields) },
            );
          },
        });
      },
    });
    return { repaired, next: running.length < BATCH ? null : (running.at(-1)?._id ?? null) };
  };
}

/** What changes when a job was given up once more. */
interface GivenUp {
  failures: number;
  state?: "failed";
  finished_at_ms?: number;
}

interface LongWork {
  enqueue: () => Promise<unknown>;
  note: (changes: GivenUp) => Promise<unknown>;
}

/**
 * Enqueues the job of long work again if it was lost, or was given up and has not been too often; else the work is failed.
 * Returns whether there was anything to do.
 */
async function goOn(
  platform: Stores & Queued,
  jobId: string,
  failuresBefore: number,
  work: LongWork,
): Promise<boolean> {
  const state = await jobState(platform, deliveries, jobId);
  if (state === "live") return false;
  if (state === "finished") {
    const failures = failuresBefore + 1;
    const isLast = failures >= LIMITS.replayFailures.value;
    await work.note({ failures, ...(isLast && { state: "failed", finished_at_ms: platform.clock() }) });
    if (isLast) return true;
    // A failed job is kept for an operator to see, and would swallow one of the same id.
    await removeJob(openedQueue(platform.queues, deliveries), jobId);
  }
  await work.enqueue();
  return true;
}
