import { AppError } from "../lib/errors.ts";
import { failpoint } from "../lib/failpoint.ts";
import type { Platform } from "../platform.ts";
import { openedQueue } from "../queues/define-queue.ts";
import { wake } from "../queues/enqueue-run.ts";
import { type ChangeItem, type LineItem, parseLineItem, type TriggeredItem } from "../queues/run-item.ts";
import type { Work } from "../queues/run-worker.ts";
import { type RunsJob, runs } from "../queues/runs.ts";
import { leaseToken } from "../store/run-queue.ts";
import { applyChange } from "./apply-change.ts";
import type { RunPlatform } from "./deps.ts";
import { keepLease } from "./lease.ts";
import { LeaseLost } from "./record.ts";
import { reply } from "./reply.ts";
import { giveUpRun, runSome } from "./run.ts";
import { tick } from "./tick.ts";

/** A busy source gives its slot up after this long when others wait (design.md, guarantee 4). */
const SLICE_MS = 1000;
/** Runs taken from the line in one go. */
const TAKEN_AT_ONCE = 200;
/** A run under which so many workers died is given up: it would end the next one too. */
const MOST_DEATHS = 3;

type Fields = Record<string, unknown>;

/**
 * What a `runs` job asks for: works off the line of its source, in order, while no other process does. The lease's
 * token holds the job's id, so a job that stalled with its process takes its own lease over.
 */
export async function workLine(
  platform: RunPlatform,
  { job, jobId, dueAtMs, log, signal, stopping }: Work<RunsJob>,
): Promise<Fields> {
  const { source_id: sourceId } = job;
  if (job.kind === "tick") await tick(platform, sourceId, dueAtMs);
  const leaseMs = platform.config.stalledAfterMs;
  const startedAt = Date.now();
  const token = leaseToken(jobId);
  const lease = keepLease(platform, sourceId, token, leaseMs, signal);
  let done = 0;
  const isSliceOver = async () =>
    stopping() || (Date.now() - startedAt > SLICE_MS && (await othersWait(platform)));
  try {
    for (;;) {
      const taken = await platform.runLine.take(sourceId, token, leaseMs, TAKEN_AT_ONCE);
      if (taken.state !== "runs") return { source_id: sourceId, runs: done, line: taken.state };
      let waiting = taken.runs.map(text => readItem(platform, sourceId, text));
      while (waiting.length > 0) {
        const outcomes = await workOff(platform, sourceId, waiting, taken.deaths, lease.nextSignal());
        for (const fields of outcomes) log.info({ source_id: sourceId, ...fields }, "run");
        waiting = waiting.slice(outcomes.length);
        done += outcomes.length;
        failpoint("runs-done");
        const finished = await platform.runLine.finish(sourceId, token, outcomes.length);
        if (finished === "lost") throw new LeaseLost(sourceId);
        const isOver = await isSliceOver();
        if (waiting.length > 0 && (isOver || finished === "change-waits")) {
          await platform.runLine.putBack(sourceId, token);
          waiting = [];
        }
        if (isOver) {
          await platform.runLine.release(sourceId, token);
          await wake(platform, sourceId);
          return { source_id: sourceId, runs: done, line: "yielded" };
        }
      }
    }
  } catch (error) {
    if (error instanceof LeaseLost) {
      // To another, or to nobody when it only ran out: then the rest of the line must not wait for the sweep.
      await wake(platform, sourceId);
      return { source_id: sourceId, runs: done, line: "lost" };
    }
    // What is in hand stays there: whoever takes the line next begins with it.
    await platform.runLine.release(sourceId, token).catch(() => undefined);
    throw error;
  } finally {
    lease.stop();
  }
}

/** Null for what can't be read: an older version may have put it there. */
function readItem(platform: RunPlatform, sourceId: string, text: string): LineItem | null {
  try {
    return parseLineItem(text);
  } catch (error) {
    if (!(error instanceof AppError || error instanceof SyntaxError)) throw error;
    platform.log.error({ source_id: sourceId, err: error }, "run in line can't be read");
    return null;
  }
}

/** Works off the first item, or as many runs from the first on as go well together; answers one outcome for each. */
async function workOff(
  platform: RunPlatform,
  sourceId: string,
  items: (LineItem | null)[],
  deaths: number,
  signal: AbortSignal,
): Promise<Fields[]> {
  const [first = null] = items;
  if (!first) return [{ outcome: "unreadable" }];
  if (first.kind === "change") {
    const isDeadly = deaths > MOST_DEATHS;
    // A deletion goes on without its hook; other changes nobody waits for any more by then.
    if (isDeadly && first.op !== "delete") return [await giveUpChange(platform, sourceId, first)];
    return [await change(platform, sourceId, first, { signal, isDeadly })];
  }
  if (deaths > MOST_DEATHS) return [await giveUpRun(platform, sourceId, first, deaths)];
  const other = items.findIndex(item => !item || item.kind === "change");
  const triggered = (other < 0 ? items : items.slice(0, other)) as TriggeredItem[];
  try {
    return await runSome(platform, sourceId, triggered, signal);
  } catch (error) {
    return [await refused(platform, sourceId, first, error)];
  }
}

async function change(
  platform: RunPlatform,
  sourceId: string,
  item: ChangeItem,
  how: { signal: AbortSignal; isDeadly: boolean },
): Promise<Fields> {
  try {
    const fields = await applyChange(platform, sourceId, item, how);
    return { run_id: item.run_id, trigger: item.kind, ...fields };
  } catch (error) {
    return await refused(platform, sourceId, item, error);
  }
}

async function giveUpChange(platform: RunPlatform, sourceId: string, item: ChangeItem): Promise<Fields> {
  const error = { code: "Crashed", message: "given up: its hooks ended several workers" };
  platform.log.error({ source_id: sourceId, run_id: item.run_id, op: item.op }, "change given up");
  await reply(platform, item, { type: "ended", error });
  return { run_id: item.run_id, trigger: item.kind, outcome: error.code };
}

/** What can't succeed later either must not stay at the head of the line; anything else is thrown again. */
async function refused(
  platform: RunPlatform,
  sourceId: string,
  item: LineItem,
  error: unknown,
): Promise<Fields> {
  if (!(error instanceof AppError) || error.code === "unavailable") throw error;
  const about = { run_id: item.run_id, trigger: item.kind };
  platform.log.error({ source_id: sourceId, ...about, err: error }, "run refused");
  await reply(platform, item, { type: "ended", error: { code: error.code, message: error.message } });
  return { ...about, outcome: error.code };
}

async function othersWait(platform: Pick<Platform, "queues">): Promise<boolean> {
  return (await openedQueue(platform.queues, runs).getWaitingCount()) > 0;
}
