import { enqueueOverdueDeliveries } from "../deliveries/sweep.ts";
import { redispatchLost } from "../deliveries/sweep-dispatches.ts";
import { settlesWithin } from "../lib/deadline.ts";
import { AppError } from "../lib/errors.ts";
import { unixSeconds } from "../lib/unix-seconds.ts";
import { Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { notifyRuns } from "../queues/enqueue-run.ts";
import { sendLostOutboxes } from "../runs/outbox.ts";
import { enqueueSourceDeletion } from "../sources/delete-source.ts";
import { acquireLock } from "../store/lock.ts";
import { reconcileTimers } from "./timers.ts";

/** Work younger than this is being handled and not lost. */
const GRACE_MS = 15_000;
/** How long a pass may take to end when its process stops. */
const STOP_MS = 2000;
/** The request that deploys a source gives up long before. */
const DEPLOYING_MS = 15 * 60_000;

/**
 * Repairs what must agree between MongoDB, Redis and the queues: work that was stored and never enqueued because of a
 * crash in between, timers that do not tick, sources between two states (docs/design.md#guarantee-2). Returns how much it
 * repaired, by step. A failing step is logged and keeps no other from running; throws `unavailable` if a store is away.
 */
export async function reconcile(
  platform: Platform,
  isStopped = () => false,
): Promise<Record<string, number>> {
  const graceMs = Math.min(GRACE_MS, platform.config.sweepEveryMs);
  const steps: [string, () => Promise<number>][] = [
    ["run_queues", () => notifyStalled(platform, graceMs)],
    ["outboxes", () => sendLostOutboxes(platform, graceMs)],
    ["dispatches", () => redispatchLost(platform)],
    ["deliveries", () => enqueueOverdueDeliveries(platform)],
    ["timers", async () => (await reconcileTimers(platform)).timers],
    ["deleting", () => finishDeletions(platform, graceMs)],
    ["deploying", () => deleteAbandoned(platform)],
  ];
  const repaired: Record<string, number> = {};
  for (const [step, repair] of steps) {
    try {
      repaired[step] = await repair();
    } catch (error) {
      if (isStopped() || (error instanceof AppError && error.code === "unavailable")) throw error;
      platform.log.error({ err: error, step }, "reconciler step failed");
      repaired[step] = 0;
    }
  }
  return repaired;
}

async function notifyStalled(platform: Platform, graceMs: number): Promise<number> {
  const stalled = await platform.runQueue.findStalled(Date.now() - graceMs);
  const sources = await Sources(platform.mongo)
    .find({ _id: { $in: stalled } }, { owner_id: 1 })
    .lean();
  const ownerOf = new Map(sources.map(({ _id, owner_id }) => [_id, owner_id]));
  for (const sourceId of stalled) await notifyRuns(platform, sourceId, ownerOf.get(sourceId));
  return stalled.length;
}

async function finishDeletions(platform: Platform, graceMs: number): Promise<number> {
  const before = unixSeconds(platform.clock() - graceMs);
  const unfinished = await Sources(platform.mongo)
    .find({ state: "deleting", updated_at: { $lte: before } }, { _id: 1 })
    .lean();
  let repaired = 0;
  for (const { _id } of unfinished) {
    // If the run queue is not empty, the deletion is already in it.
    if ((await platform.runQueue.length(_id)) > 0) continue;
    await enqueueSourceDeletion(platform, _id);
    repaired += 1;
  }
  return repaired;
}

async function deleteAbandoned(platform: Platform): Promise<number> {
  const before = unixSeconds(platform.clock() - DEPLOYING_MS);
  const { deletedCount } = await Sources(platform.mongo).deleteMany({
    state: "deploying",
    updated_at: { $lte: before },
  });
  return deletedCount;
}

/** Reconciles at start and then periodically, in whichever process holds the lock; returns the function that stops it. */
export function startReconciling(platform: Platform): () => Promise<void> {
  const everyMs = platform.config.sweepEveryMs;
  let running: Promise<void> | undefined;
  let isStopped = false;
  const pass = async () => {
    try {
      const lock = platform.keys.reconcilerLock();
      if (!(await acquireLock(platform.redis, lock, platform.processId, everyMs * 3))) return;
      const repaired = Object.entries(await reconcile(platform, () => isStopped)).filter(
        ([, count]) => count > 0,
      );
      for (const [step, count] of repaired) platform.metrics.count("reconciled_total", { step }, count);
      if (repaired.length > 0) platform.log.warn(Object.fromEntries(repaired), "reconciled");
    } catch (error) {
      if (!isStopped) platform.log.error({ err: error }, "reconciling failed");
    }
  };
  const startPass = () => {
    // While Redis is away a pass waits for it: passes that come due in the meantime must not pile up.
    running ??= pass().finally(() => {
      running = undefined;
    });
  };
  startPass();
  const timer = setInterval(startPass, everyMs);
  return async () => {
    isStopped = true;
    clearInterval(timer);
    // If a store is away the pass may wait for it; interrupted anywhere, the next one starts over.
    if (running) await settlesWithin(running, STOP_MS);
  };
}
