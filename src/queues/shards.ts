import { crc32 } from "node:zlib";
import type { JobState, JobType } from "bullmq";
import type { OpenQueue } from "./define-queue.ts";

/** The shards of a queue, known to its first one (docs/decisions/0031-shards-of-queues.md). */
export interface Sharding {
  /** All that are open, the first included. */
  all: OpenQueue[];
  /** New jobs go to so many of them. */
  producing: number;
}

/** Returns the name of a shard: the first one has that of the queue, which programs of others know (docs/jobs.md). */
export const shardName = (queue: string, shard: number): string =>
  shard === 0 ? queue : `${queue}.${shard}`;

/** Returns the queue of which this is a shard. */
export const queueOfShard = (name: string): string => name.replace(/\.\d+$/, "");

/** Returns every shard that may hold jobs of a queue; the queue alone if it has no others. */
export const shardsOf = (queue: OpenQueue): readonly OpenQueue[] => queue.sharding?.all ?? [queue];

/** Returns the number of the shard that gets the jobs of an emitter, a source, or whatever the key names. */
export function shardNumber(queue: OpenQueue, key: string): number {
  const producing = queue.sharding?.producing ?? 1;
  return producing === 1 ? 0 : crc32(key) % producing;
}

/** Returns the shard that gets the jobs of this key. */
export const shardFor = (queue: OpenQueue, key: string): OpenQueue =>
  shardsOf(queue)[shardNumber(queue, key)] ?? queue;

/** Returns how many jobs of these types all shards of a queue hold. */
export async function countJobs(queue: OpenQueue, ...types: JobType[]): Promise<number> {
  const counts = await Promise.all(shardsOf(queue).map(shard => shard.getJobCountByTypes(...types)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Returns BullMQ's state of a job, whichever shard it is on: the number may have grown since it was enqueued. */
export async function findJobState(queue: OpenQueue, jobId: string): Promise<JobState | "unknown"> {
  const states = await Promise.all(shardsOf(queue).map(shard => shard.getJobState(jobId)));
  return states.find(state => state !== "unknown") ?? "unknown";
}

/** Removes a job that is not active from whichever shard it is on. */
export async function removeJob(queue: OpenQueue, jobId: string): Promise<void> {
  await Promise.all(shardsOf(queue).map(shard => shard.remove(jobId)));
}
