import { script } from "../store/lua.ts";
import type { RedisClient } from "../store/redis.ts";

const requeueJob = script<number>("requeue-job");
const setJobPriority = script<number>("set-job-priority");

export interface Requeued {
  id: string;
  /** What BullMQ fetched the job with. */
  token: string;
  /** 0: the plain list. */
  priority: number;
  /** True if the job goes behind everything that waits, if its priority is not lower anyway. */
  isLast: boolean;
}

/**
 * Returns a job that this worker has fetched and not started to its queue, behind those of the same priority, as if it had
 * never been fetched. Does nothing if the job is no longer this worker's. `keyOf` returns a key of the queue by its last
 * part.
 */
export async function requeue(
  redis: RedisClient,
  keyOf: (part: string) => string,
  { id, token, priority, isLast }: Requeued,
): Promise<void> {
  const parts = ["active", "wait", "prioritized", "stalled", "pc", "marker", id, `${id}:lock`];
  await requeueJob(redis, parts.map(keyOf), [id, token, priority, isLast ? 1 : 0]);
}

/** Sets the priority that a job has once its delay is over. `jobKey` is the key of the job itself. */
export async function setPriority(redis: RedisClient, jobKey: string, priority: number): Promise<void> {
  await setJobPriority(redis, [jobKey], [priority]);
}
