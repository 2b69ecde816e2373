import { script } from "../store/lua.ts";
import type { RedisClient } from "../store/redis.ts";

const requeueJob = script<number>("requeue-job");
const setJobPriority = script<number>("set-job-priority");

/**
 * Returns a job that this worker has fetched and not started to its queue, behind those of the same priority (0: the
 * plain list), as if it had never been fetched. Does nothing if the job is no longer this worker's. `keyOf` returns a key
 * of the queue by its last part; `token` is what BullMQ fetched the job with.
 */
export async function requeue(
  redis: RedisClient,
  keyOf: (part: string) => string,
  { id, token, priority }: { id: string; token: string; priority: number },
): Promise<void> {
  const parts = ["active", "wait", "prioritized", "stalled", "pc", "marker", id, `${id}:lock`];
  await requeueJob(redis, parts.map(keyOf), [id, token, priority]);
}

/** Sets the priority that a job has once its delay is over. `jobKey` is the key of the job itself. */
export async function setPriority(redis: RedisClient, jobKey: string, priority: number): Promise<void> {
  await setJobPriority(redis, [jobKey], [priority]);
}
