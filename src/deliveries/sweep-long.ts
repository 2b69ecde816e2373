import { LIMITS } from "../limits/catalogue.ts";
import { type Replay, Replays } from "../models/replay.ts";
import { type Webhook, Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { enqueue, jobState, openedQueue } from "../queues/define-queue.ts";
import { deliveries, recoverJobId, replayJobId } from "../queues/deliveries.ts";
import { repairEach } from "../store/repair-each.ts";
import type { SweepBatch } from "../store/sweep-turns.ts";

type Deps = Pick<Platform, "mongo" | "redis" | "keys" | "queues" | "clock" | "log">;

const BATCH = 200;

/**
 * Enqueues replays that have been running for `graceMs` and have no job: it was lost with Redis, or given up. They go on
 * where their last batch ended (docs/design.md#guarantee-2). One whose job was given up `LIMITS.replayFailures` times
 * since then is failed.
 */
export function beginReplaySweep(platform: Deps, graceMs: number): SweepBatch {
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
        const state = await jobState(platform, deliveries, replayJobId(job));
        if (state === "live") return false;
        if (state === "finished") {
          if (await hasFailed(platform, _id, failures + 1)) return true;
          await openedQueue(platform.queues, deliveries).remove(replayJobId(job));
        }
        await enqueue(platform.queues, deliveries.jobs.replay, job);
        return true;
      },
    });
    return { repaired, next: running.length < BATCH ? null : (running.at(-1)?._id ?? null) };
  };
}

/** Counts that the job of a replay was given up; returns whether the replay is failed by that. */
async function hasFailed({ mongo, clock }: Deps, _id: string, failures: number): Promise<boolean> {
  const isLast = failures >= LIMITS.replayFailures.value;
  const reason = `its job failed ${failures} times in a row; the operator of this server sees why`;
  await Replays(mongo).updateOne(
    { _id, state: "running" },
    { $set: { failures, ...(isLast && { state: "failed", reason, finished_at_ms: clock() }) } },
  );
  return isLast;
}

/** The same for webhooks whose failed deliveries are being retried. */
export function beginRecoverySweep(platform: Deps, graceMs: number): SweepBatch {
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
        if (!(await isLost(platform, recoverJobId(job)))) return false;
        await enqueue(platform.queues, deliveries.jobs.recover, job);
        return true;
      },
    });
    return { repaired, next: running.length < BATCH ? null : (running.at(-1)?._id ?? null) };
  };
}

/** A failed job is kept for an operator to see and would swallow an `add` of its id, so it is removed. */
async function isLost(platform: Deps, jobId: string): Promise<boolean> {
  const state = await jobState(platform, deliveries, jobId);
  if (state === "finished") await openedQueue(platform.queues, deliveries).remove(jobId);
  return state !== "live";
}
