import { Queue } from "bullmq";
import type { Logger } from "pino";
import { warnSeldom } from "../lib/warn-throttled.ts";
import type { RedisClient } from "../store/redis.ts";
import type { QueueDeclaration, Queues } from "./define-queue.ts";

interface Options {
  redis: RedisClient;
  prefix: string;
  log: Logger;
  /** How long a start waits for the queues; milliseconds. */
  deadlineMs: number;
}

/** Between two tries: a client that lost its connection refuses at once. */
const PAUSE_MS = 100;

/** BullMQ's key prefix of one queue: a hash tag of its own, so that a cluster keeps each queue in one slot. */
export function queuePrefix(prefix: string, name: string): string {
  return `{${prefix}:${name}}`;
}

/** Opens the producing side of the queues on one fail-fast client. Throws when they are not ready by the deadline. */
export async function openQueues(
  declarations: readonly QueueDeclaration[],
  options: Options,
): Promise<Queues> {
  // One for all: they share a client, and each tells of its troubles.
  const warn = warnSeldom(options.log, "queue connection");
  const deadline = Date.now() + options.deadlineMs;
  const queues = new Map<string, Queue>();
  try {
    for (const { name } of declarations) {
      queues.set(name, await openReady(() => open(name, options, warn), deadline));
    }
    return queues;
  } catch (error) {
    await Promise.all([...queues.values()].map(queue => queue.close()));
    throw error;
  }
}

function open(name: string, { redis, prefix }: Options, warn: (error: unknown) => void): Queue {
  const queue = new Queue(name, {
    connection: redis,
    prefix: queuePrefix(prefix, name),
    skipWaitingForReady: true,
    // The stream serves live listeners only; BullMQ's default of 10,000 entries a queue is memory for nothing.
    streams: { events: { maxLen: 100 } },
  });
  // Without a listener an `error` event ends the process (field.md, section 4).
  queue.on("error", warn);
  return queue;
}

/**
 * A queue that has heard from Redis. BullMQ asks once, and answers everything with that answer for ever, a failure
 * too: a queue that failed is no use any more, and another one takes its place. One that is ready stays so.
 */
async function openReady(openOne: () => Queue, deadline: number): Promise<Queue> {
  for (;;) {
    const queue = openOne();
    try {
      await before(deadline, queue.waitUntilReady());
      return queue;
    } catch (error) {
      await queue.close();
      if (Date.now() >= deadline) {
        throw new Error(`Redis did not answer for queue ${queue.name}`, { cause: error });
      }
      await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
    }
  }
}

/** A worker's client waits for Redis without an end. */
async function before(deadline: number, ready: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer in time")), deadline - Date.now());
  });
  await Promise.race([ready, late]).finally(() => clearTimeout(timer));
}
