import { LRUCache } from "lru-cache";
import { limitsOf } from "../accounts/limits.ts";
import { stringifyJson } from "../lib/json-text.ts";
import type { Stores, Working } from "../platform.ts";
import { enqueue, jobState } from "../queues/define-queue.ts";
import { type WorkflowEventsJob, workflowEvents } from "../queues/workflow-events.ts";
import { noteWorkflowJob, removeFinishedJobs } from "../store/workflow-backlog.ts";

/** How long an account that has reached its bound stays there before its jobs are looked at again. Milliseconds. */
const LOOK_EVERY_MS = 1000;
/** Redis connection (one for each platform) → accounts that had all that may wait, and when that was. */
const saturated = new WeakMap<object, LRUCache<string, number>>();

function saturatedAccounts({ redis }: Stores): LRUCache<string, number> {
  const found = saturated.get(redis) ?? new LRUCache<string, number>({ max: 10_000 });
  saturated.set(redis, found);
  return found;
}

/**
 * Enqueues an event for a workflow engine. Returns false if the account has all that may wait for an engine: without one
 * the jobs would pile up for ever (docs/limits.md). Repeated, it enqueues nothing twice.
 */
export async function enqueueWorkflowEvent(
  platform: Working,
  ownerId: string,
  payload: WorkflowEventsJob,
): Promise<boolean> {
  const accounts = saturatedAccounts(platform);
  const { workflowEvents: mostJobs, workflowEventBytes: mostBytes } = await limitsOf(platform, ownerId);
  const isWithin = ([jobs, bytes]: [number, number]) => jobs < mostJobs && bytes < mostBytes;
  const since = accounts.get(ownerId);
  if (since !== undefined) {
    if (performance.now() - since < LOOK_EVERY_MS) return false;
    const isLive = async (jobId: string) => (await jobState(platform, workflowEvents, jobId)) === "live";
    if (!isWithin(await removeFinishedJobs(platform, ownerId, isLive))) {
      accounts.set(ownerId, performance.now());
      return false;
    }
    accounts.delete(ownerId);
  }
  const job = workflowEvents.jobs["workflow-events"];
  const [noted] = await Promise.all([
    noteWorkflowJob(platform, ownerId, job.jobId?.(payload) ?? "", stringifyJson(payload).length),
    enqueue(platform.queues, job, payload),
  ]);
  // Looked at again with the next event.
  if (!isWithin(noted)) accounts.set(ownerId, Number.NEGATIVE_INFINITY);
  return true;
}
