import { AppError } from "../lib/errors.ts";
import { failpoint } from "../lib/failpoint.ts";
import type { Platform } from "../platform.ts";
import { openedQueue } from "../queues/define-queue.ts";
import { notifyRuns } from "../queues/enqueue-run.ts";
import { type ChangeItem, parseRunItem, type RunItem, type TriggerItem } from "../queues/run-item.ts";
import type { JobContext } from "../queues/run-worker.ts";
import { runs, type SourceJob } from "../queues/runs.ts";
import { leaseToken } from "../store/run-queue.ts";
import { applyChange } from "./apply-change.ts";
import type { LogFields, RunDeps } from "./deps.ts";
import { Lease } from "./lease.ts";
import { LeaseLost } from "./record.ts";
import { reply } from "./reply.ts";
import { failCrashedRun, runBatch } from "./run.ts";
import { tick } from "./tick.ts";

/** Milliseconds after which a busy source yields if other sources wait (docs/design.md#guarantee-4). */
const SLICE_MS = 1000;
/** Runs claimed at a time. */
const RUNS_PER_CLAIM = 200;
/** A run that crashed more workers than this is not repeated: it would crash the next one too. */
const MAX_CRASHES = 3;

/** Handles a `tick` job: queues the run of a timer that is due, then executes the source's run queue. */
export async function handleTick(platform: RunDeps, context: JobContext<SourceJob>): Promise<LogFields> {
  await tick(platform, context.job.source_id, context.dueAtMs);
  return await executeQueuedRuns(platform, context);
}

/**
 * Handles a `notify` job: executes what waits in a source's run queue, in order, unless another process does. The
 * lease's token holds the job's id, so that a job that stalled with its process takes over its own lease.
 */
export async function executeQueuedRuns(
  platform: RunDeps,
  { job, jobId, log, signal, isStopping }: JobContext<SourceJob>,
): Promise<LogFields> {
  const { source_id: sourceId } = job;
  const leaseMs = platform.config.stalledAfterMs;
  const startedAt = Date.now();
  const token = leaseToken(jobId);
  const lease = new Lease(platform, sourceId, token, leaseMs, signal);
  let done = 0;
  const isSliceOver = async () =>
    isStopping() || (Date.now() - startedAt > SLICE_MS && (await hasWaitingJobs(platform)));
  try {
    for (;;) {
      const claimed = await platform.runQueue.claim(sourceId, token, leaseMs, RUNS_PER_CLAIM);
      if (claimed.state !== "runs") return { source_id: sourceId, runs: done, ended: claimed.state };
      let waiting = claimed.runs.map(text => readItem(platform, sourceId, text));
      while (waiting.length > 0) {
        const results = await executeNext(platform, sourceId, waiting, claimed.crashes, lease.nextSignal());
        for (const fields of results) log.info({ source_id: sourceId, ...fields }, "run");
        waiting = waiting.slice(results.length);
        done += results.length;
        failpoint("runs-done");
        const acked = await platform.runQueue.ack(sourceId, token, results.length);
        if (acked === "lost") throw new LeaseLost(sourceId);
        const isOver = await isSliceOver();
        if (waiting.length > 0 && (isOver || acked === "change-waits")) {
          await platform.runQueue.nack(sourceId, token);
          waiting = [];
        }
        if (isOver) {
          await platform.runQueue.release(sourceId, token);
          await notifyRuns(platform, sourceId, job.account_id);
          return { source_id: sourceId, runs: done, ended: "yielded" };
        }
      }
    }
  } catch (error) {
    if (error instanceof LeaseLost) {
      // If the lease only expired and no other process took it, the remaining runs must not wait for the sweep.
      await notifyRuns(platform, sourceId, job.account_id);
      return { source_id: sourceId, runs: done, ended: "lease-lost" };
    }
    // Claimed runs stay claimed: the next holder of the lease starts with them.
    await platform.runQueue.release(sourceId, token).catch(() => undefined);
    throw error;
  } finally {
    lease.stop();
  }
}

/** Returns null for an item that can't be parsed: an older version may have written it. */
function readItem(platform: RunDeps, sourceId: string, text: string): RunItem | null {
  try {
    return parseRunItem(text);
  } catch (error) {
    if (!(error instanceof AppError || error instanceof SyntaxError)) throw error;
    platform.log.error({ source_id: sourceId, err: error }, "queued run can't be parsed");
    return null;
  }
}

/**
 * Executes the first item, or as many runs from the first on as share a batch. Returns log fields for each item done.
 */
async function executeNext(
  platform: RunDeps,
  sourceId: string,
  items: (RunItem | null)[],
  crashes: number,
  signal: AbortSignal,
): Promise<LogFields[]> {
  const [first = null] = items;
  const hasCrashed = crashes > MAX_CRASHES;
  if (!first) return [{ outcome: "unreadable" }];
  if (first.kind === "change") {
    // A deletion goes on without its hook. Any other change fails, and its request has long since timed out.
    if (hasCrashed && first.op !== "delete") return [await failCrashedChange(platform, sourceId, first)];
    return [await changeOrReject(platform, sourceId, first, { signal, hasCrashed })];
  }
  if (hasCrashed) return [await failCrashedRun(platform, sourceId, first, crashes)];
  const end = items.findIndex(item => !item || item.kind === "change");
  const triggers = (end < 0 ? items : items.slice(0, end)) as TriggerItem[];
  try {
    return await runBatch(platform, sourceId, triggers, signal);
  } catch (error) {
    return [await rejectOrRethrow(platform, sourceId, first, error)];
  }
}

async function changeOrReject(
  platform: RunDeps,
  sourceId: string,
  item: ChangeItem,
  options: { signal: AbortSignal; hasCrashed: boolean },
): Promise<LogFields> {
  try {
    const fields = await applyChange(platform, sourceId, item, options);
    return { run_id: item.run_id, trigger: item.kind, ...fields };
  } catch (error) {
    return await rejectOrRethrow(platform, sourceId, item, error);
  }
}

async function failCrashedChange(platform: RunDeps, sourceId: string, item: ChangeItem): Promise<LogFields> {
  const error = { code: "Crashed", message: "its hooks crashed several workers; it is not repeated" };
  const fields = { source_id: sourceId, run_id: item.run_id, op: item.op };
  platform.log.error(fields, "change failed: its hooks crashed several workers");
  await reply(platform, item, { type: "ended", error });
  return { run_id: item.run_id, trigger: item.kind, outcome: error.code };
}

/**
 * Replies with the error of an item that would fail again, so that it does not block the run queue. Rethrows an error
 * that a later attempt may not meet.
 */
async function rejectOrRethrow(
  platform: RunDeps,
  sourceId: string,
  item: RunItem,
  error: unknown,
): Promise<LogFields> {
  if (!(error instanceof AppError) || error.code === "unavailable") throw error;
  const ids = { run_id: item.run_id, trigger: item.kind };
  platform.log.error({ source_id: sourceId, ...ids, err: error }, "run rejected");
  await reply(platform, item, { type: "ended", error: { code: error.code, message: error.message } });
  return { ...ids, outcome: error.code };
}

async function hasWaitingJobs(platform: Pick<Platform, "queues">): Promise<boolean> {
  return (await openedQueue(platform.queues, runs).getJobCountByTypes("waiting", "prioritized")) > 0;
}
