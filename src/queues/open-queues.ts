import { Queue } from "bullmq";
import type { Logger } from "pino";
import type { RedisClient } from "../store/redis.ts";
import type { QueueDeclaration, Queues } from "./define-queue.ts";
import { warnSeldom } from "./warn-seldom.ts";

/** BullMQ's key prefix of one queue: a hash tag of its own, so that a cluster keeps each queue in one slot. */
export function queuePrefix(prefix: string, name: string): string {
  return `{${prefix}:${name}}`;
}

/** Opens the producing side of the queues on one fail-fast client. */
export function openQueues(
  declarations: readonly QueueDeclaration[],
  options: { redis: RedisClient; prefix: string; log: Logger },
): Queues {
  // One for all: they share a client, and each tells of its troubles.
  const warn = warnSeldom(options.log, "queue connection");
  return new Map(
    declarations.map(({ name }) => {
      const queue = new Queue(name, {
        connection: options.redis,
        prefix: queuePrefix(options.prefix, name),
        skipWaitingForReady: true,
        // The stream serves live listeners only; BullMQ's default of 10,000 entries a queue is memory for nothing.
        streams: { events: { maxLen: 100 } },
      });
      // Without a listener an `error` event ends the process (field.md, section 4).
      queue.on("error", warn);
      return [name, queue];
    }),
  );
}
