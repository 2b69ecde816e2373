import { setTimeout as delay } from "node:timers/promises";
import type { Queue } from "bullmq";
import type { Logger } from "pino";
import { warnThrottled } from "../lib/logger.ts";
import { withDeadline } from "../lib/time.ts";
import type { RedisClient } from "../store/redis.ts";
import { PayloadQueue } from "./backend.ts";
import type { AnyQueue, OpenQueue } from "./define-queue.ts";
import { FairOrder } from "./fair-order.ts";
import { StoredJobs } from "./stored-jobs.ts";

export interface OpenOptions {
  redis: RedisClient;
  prefix: string;
  log: Logger;
  /** How long to wait for the queues at start; milliseconds. */
  deadlineMs: number;
}

/** Between two attempts: a client that lost its connection rejects at once. */
const PAUSE_MS = 100;

/** BullMQ's key prefix of one queue: a hash tag of its own, so that a cluster keeps each queue in one slot. */
export function queuePrefix(prefix: string, name: string): string {
  return `{${prefix}:${name}}`;
}

/** Opens the producing side of the queues over one fail-fast client. Throws if they are not ready by the deadline. */
export async function openQueues(
  declarations: readonly Pick<AnyQueue, "name" | "quantum">[],
  options: OpenOptions,
): Promise<Map<string, OpenQueue>> {
  // One for all queues: they share a client, and each reports its errors.
  const warn = warnThrottled(options.log, "queue connection");
  const deadline = Date.now() + options.deadlineMs;
  const queues = new Map<string, OpenQueue>();
  try {
    for (const declared of declarations) {
      queues.set(declared.name, await openQueue(declared, options, { warn, deadline }));
    }
    return queues;
  } catch (error) {
    await Promise.all([...queues.values()].map(queue => queue.close()));
    throw error;
  }
}

/** Opens one queue. Throws if it is not ready by the deadline. */
async function openQueue(
  { name, quantum }: Pick<AnyQueue, "name" | "quantum">,
  options: OpenOptions,
  { warn, deadline }: { warn: (error: unknown) => void; deadline: number },
): Promise<OpenQueue> {
  const queue = await openReady(() => open(name, options, warn), deadline);
  const order = quantum && new FairOrder(new StoredJobs(options.redis, queue), quantum);
  return Object.assign(queue, order && { order });
}

function open(name: string, { redis, prefix }: OpenOptions, warn: (error: unknown) => void): Queue {
  const queue = new PayloadQueue(name, {
    connection: redis,
    prefix: queuePrefix(prefix, name),
    skipWaitingForReady: true,
    // The stream serves live listeners only; BullMQ's default of 10,000 entries a queue would waste memory.
    streams: { events: { maxLen: 100 } },
  });
  // Without a listener an `error` event ends the process.
  queue.on("error", warn);
  return queue;
}

/**
 * Opens a queue that has reached Redis. BullMQ asks once and keeps the result for ever, a failure too: a queue that failed
 * is useless, so another one replaces it. A queue that is ready stays ready.
 */
async function openReady(openOne: () => Queue, deadline: number): Promise<Queue> {
  for (;;) {
    const queue = openOne();
    try {
      // A worker's client would wait for Redis without end.
      await withDeadline(queue.waitUntilReady(), deadline - Date.now());
      return queue;
    } catch (error) {
      await queue.close();
      if (Date.now() >= deadline) {
        throw new Error(`Redis did not respond for queue ${queue.name}`, { cause: error });
      }
      await delay(PAUSE_MS);
    }
  }
}
