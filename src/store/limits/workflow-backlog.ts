import type { RedisClient } from "../connections/redis.ts";
import type { RedisKeys } from "../keys.ts";
import { script } from "../lua.ts";

const note = script<Backlog>("note-workflow-job");
const remove = script<Backlog>("remove-workflow-jobs");

type Backlog = [jobs: number, bytes: number];

/** After this long without an event an account's jobs are noted from the start again: nothing new has arrived. */
const REMEMBERED_SECONDS = 7 * 86_400;
/** Jobs whose state is looked up at a time, when an account has reached its bound. */
const LOOKED_UP = 100;

type Deps = { redis: RedisClient; keys: RedisKeys };

const keysOf = ({ keys }: Deps, ownerId: string) => [keys.workflowJobs(ownerId), keys.workflowBytes(ownerId)];

/**
 * Notes a job on the queue of workflow events, which an engine consumes that does not report to Headwater. Returns how
 * many jobs, and how many bytes of them, are noted for the account; engines may have finished any of them.
 */
export function noteWorkflowJob(deps: Deps, ownerId: string, jobId: string, bytes: number): Promise<Backlog> {
  return note(deps.redis, keysOf(deps, ownerId), [bytes, jobId, REMEMBERED_SECONDS]);
}

/**
 * Removes the oldest noted jobs that are done, as `isLive` says, which takes a job's id; returns what is left. It goes on
 * while it finds many, so that what an engine has consumed never counts against the account.
 */
export async function removeFinishedJobs(
  deps: Deps,
  ownerId: string,
  isLive: (jobId: string) => Promise<boolean>,
): Promise<Backlog> {
  for (;;) {
    const oldest = await deps.redis.lrange(deps.keys.workflowJobs(ownerId), 0, LOOKED_UP - 1);
    const live = await Promise.all(oldest.map(entry => isLive(entry.slice(entry.indexOf(" ") + 1))));
    const done = oldest.filter((_, i) => !live[i]);
    const left = await remove(deps.redis, keysOf(deps, ownerId), done);
    if (done.length < LOOKED_UP / 2) return left;
  }
}

/** Returns the jobs, and their bytes, that are noted for an account. */
export async function readWorkflowBacklog(deps: Deps, ownerId: string): Promise<Backlog> {
  const [jobs, bytes] = await Promise.all([
    deps.redis.llen(deps.keys.workflowJobs(ownerId)),
    deps.redis.get(deps.keys.workflowBytes(ownerId)),
  ]);
  return [jobs, Number(bytes ?? 0)];
}
