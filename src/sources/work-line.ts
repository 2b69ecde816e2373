import { AppError } from "../errors.ts";
import type { Platform } from "../platform.ts";
import { openedQueue } from "../queues/define-queue.ts";
import type { Work } from "../queues/run-worker.ts";
import { type RunsJob, runs } from "../queues/runs.ts";
import { leaseToken } from "../store/run-line.ts";
import { applyChange } from "./apply-change.ts";
import { wake } from "./enqueue-run.ts";
import { type LineItem, parseLineItem } from "./line-item.ts";
import { LeaseLost } from "./record-run.ts";
import { reply } from "./reply.ts";
import { type RunPlatform, runSource } from "./run.ts";
import { tick } from "./tick.ts";

/** A busy source gives its slot up after this long when others wait (design.md, guarantee 4). */
const SLICE_MS = 1000;

/**
 * What a `runs` job asks for: works off the line of its source, one run after the other, while no other process does.
 * The lease's token holds the job's id, so a job that stalled with its process takes its own lease over.
 */
export async function workLine(
  platform: RunPlatform,
  { job, jobId, dueAtMs, log, signal, stopping }: Work<RunsJob>,
): Promise<Record<string, unknown>> {
  const { source_id: sourceId } = job;
  if (job.kind === "tick") await tick(platform, sourceId, dueAtMs);
  const leaseMs = platform.config.stalledAfterMs;
  const startedAt = Date.now();
  const token = leaseToken(jobId);
  const lease = keepLease(platform, sourceId, token, leaseMs, signal);
  let done = 0;
  try {
    for (;;) {
      const taken = await platform.runLine.take(sourceId, token, leaseMs);
      if (taken.state !== "run") return { source_id: sourceId, runs: done, line: taken.state };
      const fields = await workOff(platform, sourceId, taken.run, lease.nextSignal());
      log.info({ source_id: sourceId, ...fields }, "run");
      done += 1;
      if (!(await platform.runLine.finish(sourceId, token))) throw new LeaseLost(sourceId);
      if (stopping() || (Date.now() - startedAt > SLICE_MS && (await othersWait(platform)))) {
        await platform.runLine.release(sourceId, token);
        await wake(platform, sourceId);
        return { source_id: sourceId, runs: done, line: "yielded" };
      }
    }
  } catch (error) {
    if (error instanceof LeaseLost) {
      // To another, or to nobody when it only ran out: then the rest of the line must not wait for the sweep.
      await wake(platform, sourceId);
      return { source_id: sourceId, runs: done, line: "lost" };
    }
    // The run stays `current`: whoever takes the line next begins with it.
    await platform.runLine.release(sourceId, token).catch(() => undefined);
    throw error;
  } finally {
    lease.stop();
  }
}

async function workOff(
  platform: RunPlatform,
  sourceId: string,
  text: string,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  let item: LineItem;
  try {
    item = parseLineItem(text);
  } catch (error) {
    if (!(error instanceof AppError || error instanceof SyntaxError)) throw error;
    platform.log.error({ source_id: sourceId, err: error }, "run in line can't be read");
    return { outcome: "unreadable" };
  }
  if (item.kind === "timer") await platform.redis.del(platform.keys.timerWaiting(sourceId));
  const about = { run_id: item.run_id, trigger: item.kind };
  try {
    const fields =
      item.kind === "change"
        ? await applyChange(platform, sourceId, item, signal)
        : await runSource(platform, sourceId, item, signal);
    return { ...about, ...fields };
  } catch (error) {
    // What can't succeed later either must not stay at the head of the line.
    if (!(error instanceof AppError) || error.code === "unavailable") throw error;
    platform.log.error({ source_id: sourceId, ...about, err: error }, "run refused");
    await reply(platform, item, { type: "ended", error: { code: error.code, message: error.message } });
    return { ...about, outcome: error.code };
  }
}

async function othersWait(platform: Pick<Platform, "queues">): Promise<boolean> {
  return (await openedQueue(platform.queues, runs).getWaitingCount()) > 0;
}

/** Renews the lease while the line is worked off; the run under way is aborted when lease or job lock are lost. */
function keepLease(
  platform: Pick<Platform, "runLine">,
  sourceId: string,
  token: string,
  leaseMs: number,
  outer: AbortSignal,
) {
  // A signal for each run: listeners on one that lives as long as the line would pile up.
  let run = new AbortController();
  let lost: unknown;
  const abort = (reason: unknown) => {
    lost ??= reason;
    run.abort(lost);
  };
  const onOuter = () => abort(outer.reason);
  outer.addEventListener("abort", onOuter);
  const timer = setInterval(
    () => {
      platform.runLine.renew(sourceId, token, leaseMs).then(
        ours => {
          if (!ours) abort(new LeaseLost(sourceId));
        },
        // Redis is away: the version of the source's memory guards what this run will write.
        () => undefined,
      );
    },
    Math.floor(leaseMs / 3),
  );
  return {
    nextSignal(): AbortSignal {
      run = new AbortController();
      if (lost !== undefined) run.abort(lost);
      return run.signal;
    },
    stop() {
      clearInterval(timer);
      outer.removeEventListener("abort", onOuter);
    },
  };
}
