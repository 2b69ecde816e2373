import { enqueueOverdue } from "../deliveries/sweep.ts";
import { enqueueForgotten } from "../deliveries/sweep-dispatch.ts";
import { AppError } from "../lib/errors.ts";
import { Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { wake } from "../queues/enqueue-run.ts";
import { sendForgotten } from "../runs/outbox.ts";
import { enqueueDelete } from "../sources/service.ts";
import { takeLock } from "../store/lock.ts";
import { reconcileTimers } from "./timers.ts";

/** Work younger than this is in somebody's hands and not lost. */
const GRACE_MS = 15_000;
/** What a round under way gets to end when its process does. */
const STOP_MS = 2000;
/** A deployment is given up by its creator long before. */
const DEPLOYING_MS = 15 * 60_000;

/**
 * What must agree between MongoDB, Redis and the queues, repaired: work that was stored and never enqueued (a crash in
 * between), timers that do not tick, sources between two states (design.md, guarantees 2 and 7). Answers what it mended.
 * What fails is logged and keeps nothing else from being mended; throws `unavailable` with a store away.
 */
export async function reconcile(
  platform: Platform,
  isStopped = () => false,
): Promise<Record<string, number>> {
  const graceMs = Math.min(GRACE_MS, platform.config.sweepEveryMs);
  const steps: [string, () => Promise<number>][] = [
    ["lines", () => wakeStuck(platform, graceMs)],
    ["outboxes", () => sendForgotten(platform, graceMs)],
    ["first_attempts", () => enqueueForgotten(platform)],
    ["deliveries", () => enqueueOverdue(platform)],
    ["timers", async () => (await reconcileTimers(platform)).timers],
    ["deleting", () => finishDeletions(platform, graceMs)],
    ["deploying", () => dropAbandoned(platform)],
  ];
  const mended: Record<string, number> = {};
  for (const [what, mend] of steps) {
    try {
      mended[what] = await mend();
    } catch (error) {
      if (isStopped() || (error instanceof AppError && error.code === "unavailable")) throw error;
      platform.log.error({ err: error, what }, "can't be reconciled");
      mended[what] = 0;
    }
  }
  return mended;
}

async function wakeStuck(platform: Platform, graceMs: number): Promise<number> {
  const lines = await platform.runLine.stuck(Date.now() - graceMs);
  for (const sourceId of lines) await wake(platform, sourceId);
  return lines.length;
}

async function finishDeletions(platform: Platform, graceMs: number): Promise<number> {
  const before = Math.floor((platform.clock() - graceMs) / 1000);
  const left = await Sources(platform.mongo)
    .find({ state: "deleting", updated_at: { $lte: before } }, { _id: 1 })
    .lean();
  let mended = 0;
  for (const { _id } of left) {
    // A line that is not empty has its deletion in front already.
    if ((await platform.runLine.length(_id)) > 0) continue;
    await enqueueDelete(platform, _id);
    mended += 1;
  }
  return mended;
}

async function dropAbandoned(platform: Platform): Promise<number> {
  const before = Math.floor((platform.clock() - DEPLOYING_MS) / 1000);
  const { deletedCount } = await Sources(platform.mongo).deleteMany({
    state: "deploying",
    updated_at: { $lte: before },
  });
  return deletedCount;
}

/** Reconciles at start and then again and again, in whichever process holds the lock; answers how to end it. */
export function keepReconciled(platform: Platform): () => Promise<void> {
  const everyMs = platform.config.sweepEveryMs;
  let running: Promise<void> | undefined;
  let isStopped = false;
  const round = async () => {
    try {
      if (!(await takeLock(platform.redis, platform.keys.leader(), platform.processId, everyMs * 3))) return;
      const mended = Object.entries(await reconcile(platform, () => isStopped)).filter(
        ([, count]) => count > 0,
      );
      for (const [what, count] of mended) platform.counters.add("reconciled_total", { what }, count);
      if (mended.length > 0) platform.log.warn(Object.fromEntries(mended), "reconciled");
    } catch (error) {
      if (!isStopped) platform.log.error({ err: error }, "reconcile failed");
    }
  };
  const next = () => {
    // With Redis away a round waits for it: those that come due meanwhile must not pile up behind it.
    running ??= round().finally(() => {
      running = undefined;
    });
  };
  next();
  const timer = setInterval(next, everyMs);
  return async () => {
    isStopped = true;
    clearInterval(timer);
    // With a store away the round may wait for it; cut off anywhere, the next one begins anew.
    await Promise.race([running, new Promise(resolve => setTimeout(resolve, STOP_MS).unref())]);
  };
}
