import { deleteKeptLater } from "../accepted/keep.ts";
import { AppError } from "../lib/errors.ts";
import { failpoint } from "../lib/failpoint.ts";
import type { Queued } from "../platform.ts";
import { openedQueue } from "../queues/define-queue.ts";
import type { JobContext } from "../queues/job-kinds.ts";
import { reply } from "../queues/replies.ts";
import {
  type ChangeItem,
  NewerRun,
  parseRunItem,
  type RunItem,
  type TriggerItem,
} from "../queues/run-item.ts";
import { notifyRuns, runs, type SourceJob } from "../queues/runs.ts";
import { countJobs, shardNumber } from "../queues/shards.ts";
import { moveScheduler } from "../sources/timer-scheduler.ts";
import { countDrop } from "../store/events/drops.ts";
import { leaseToken } from "../store/runs/run-queue.ts";
import { applyChange } from "./apply-change.ts";
import { Claim, Lease } from "./lease.ts";
import { LeaseLost } from "./record.ts";
import { failCrashedRun, type LogFields, type RunDeps, runBatch } from "./run.ts";
import { tick } from "./tick.ts";
import { giveUpUndoing, undoChange } from "./undo-change.ts";

/** Milliseconds after which a busy source yields if other sources wait (docs/design.md#guarantee-4). */
const SLICE_MS = 1000;
/** Runs claimed at a time. */
const RUNS_PER_CLAIM = 200;
/** A run that crashed more workers than this is not repeated: it would crash the next one too. */
const MAX_CRASHES = 3;

/** Handles a `tick` job: queues the run of a timer that is due, then executes the source's run queue. */
export async function handleTick(platform: RunDeps, context: JobContext<SourceJob>): Promise<LogFields> {
  const { job, shard, dueAtMs, log } = context;
  const result = await tick(platform, job.source_id, dueAtMs);
  if (result === "early") log.warn({ source_id: job.source_id, due_at: dueAtMs }, "tick is not due yet");
  const ownShard = shardNumber(openedQueue(platform.queues, runs), job.source_id);
  if (shard !== ownShard && result !== "inactive") {
    await moveScheduler(platform, job).catch(error => {
      log.warn({ source_id: job.source_id, err: error }, "timer stays on its shard until it ticks again");
    });
  }
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
  const startedAt = performance.now();
  const token = leaseToken(jobId);
  const lease = new Lease(platform, sourceId, token, leaseMs, signal);
  let done = 0;
  const isSliceOver = async () =>
    isStopping() || (performance.now() - startedAt > SLICE_MS && (await hasWaitingJobs(platform)));
  try {
    for (;;) {
      const claimed = await platform.runQueue.claim(sourceId, token, leaseMs, RUNS_PER_CLAIM);
      if (claimed.state !== "runs") return { source_id: sourceId, runs: done, ended: claimed.state };
      const claim = new Claim(token, claimed);
      let waiting = claimed.runs.map(text => readItem(platform, sourceId, text));
      while (waiting.length > 0) {
        const results = await executeNext(platform, sourceId, {
          items: waiting,
          claim,
          crashes: claimed.crashes,
          signal: lease.nextSignal(),
        });
        for (const fields of results) log.info({ source_id: sourceId, ...fields }, "run");
        deleteKeptRuns(platform, waiting.slice(0, results.length));
        waiting = waiting.slice(results.length);
        done += results.length;
        failpoint("runs-done");
        const acked =
          claim.advance(results.length) ?? (await platform.runQueue.ack(sourceId, token, claim.left));
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
    // A change, such as the source's deletion, goes ahead of what waits for the newer release.
    if (error instanceof NewerRun) await platform.runQueue.nack(sourceId, token);
    // Claimed runs stay claimed: the next holder of the lease starts with them. An error that is not a store's may be
    // the run's own, which must not come back for ever: it counts as a crash.
    const isBlamed = !(error instanceof AppError);
    await platform.runQueue.release(sourceId, token, { isBlamed }).catch(() => undefined);
    throw error;
  } finally {
    lease.stop();
  }
}

/** An item, null for one that can't be parsed, and the error of one that only a newer release knows. */
type Read = RunItem | NewerRun | null;

/** Has the rows of runs that are done deleted, if they have some. */
function deleteKeptRuns(platform: RunDeps, items: Read[]): void {
  const ids = items.flatMap(item => (item !== null && "kept" in item && item.kept ? [item.run_id] : []));
  if (ids.length === 0) return;
  if (platform.late) platform.late.deleteKept(ids);
  else deleteKeptLater(platform, ids);
}

function readItem(platform: RunDeps, sourceId: string, text: string): Read {
  try {
    return parseRunItem(text);
  } catch (error) {
    if (error instanceof NewerRun) return error;
    if (!(error instanceof AppError || error instanceof SyntaxError)) throw error;
    platform.log.error({ source_id: sourceId, err: error }, "queued run can't be parsed");
    return null;
  }
}

/** What is claimed and not done. */
interface Next {
  items: Read[];
  claim: Claim;
  /** How many holders of the lease started the first item and did not live to finish it. */
  crashes: number;
  signal: AbortSignal;
}

/**
 * Executes the first item, or as many runs from the first on as share a batch. Returns log fields for each item done.
 */
async function executeNext(
  platform: RunDeps,
  sourceId: string,
  { items, claim, crashes, signal }: Next,
): Promise<LogFields[]> {
  const [first = null] = items;
  const hasCrashed = crashes > MAX_CRASHES;
  if (!first) return [await dropUnreadable(platform, sourceId)];
  // The job is snoozed, and the runs stay in their order: a worker of the newer release gets them.
  if (first instanceof NewerRun) throw first;
  if (first.kind === "change") {
    // A deletion goes on without its hook. Any other change fails, and its request has long since timed out.
    if (hasCrashed && first.op !== "delete") {
      // Undoing it calls hooks as well, and these may be the ones that crash workers.
      const canUndo = crashes <= 2 * MAX_CRASHES;
      return [await failCrashedChange(platform, sourceId, first, canUndo ? signal : null)];
    }
    return [await changeOrReject(platform, sourceId, first, { signal, hasCrashed })];
  }
  if (hasCrashed) return [await giveUpRun(platform, sourceId, first, crashes)];
  const end = items.findIndex(item => !item || item instanceof NewerRun || item.kind === "change");
  const triggers = (end < 0 ? items : items.slice(0, end)) as TriggerItem[];
  try {
    return await runBatch(platform, sourceId, { claim, items: triggers }, signal);
  } catch (error) {
    return [await rejectOrRethrow(platform, sourceId, first, error)];
  }
}

async function dropUnreadable(platform: RunDeps, sourceId: string): Promise<LogFields> {
  platform.metrics.count("runs_total", { outcome: "unreadable" });
  await countDrop(platform, sourceId, "invalid");
  return { outcome: "unreadable" };
}

/** Records a run as crashed; if not even that is possible, it is dropped, so that its source goes on. */
async function giveUpRun(
  platform: RunDeps,
  sourceId: string,
  item: TriggerItem,
  crashes: number,
): Promise<LogFields> {
  try {
    return await failCrashedRun(platform, sourceId, item, crashes);
  } catch (error) {
    if (error instanceof LeaseLost || (error instanceof AppError && error.code === "unavailable"))
      throw error;
    const ids = { source_id: sourceId, run_id: item.run_id };
    platform.log.error({ ...ids, err: error }, "run dropped: it can't be recorded");
    return { run_id: item.run_id, ...(await dropUnreadable(platform, sourceId)) };
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

/** `signal` cancels the hooks that undo the change; null if they must not be called. */
async function failCrashedChange(
  platform: RunDeps,
  sourceId: string,
  item: ChangeItem,
  signal: AbortSignal | null,
): Promise<LogFields> {
  if (signal) await undoChange(platform, sourceId, item, signal);
  else await giveUpUndoing(platform, sourceId, item);
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

async function hasWaitingJobs(platform: Queued): Promise<boolean> {
  return (await countJobs(openedQueue(platform.queues, runs), "waiting", "prioritized")) > 0;
}
