import type { HttpResponse } from "../sandbox/protocol.ts";
import type { RedisClient } from "../store/redis.ts";

/** What a worker tells the process that waits for a run. */
export type Reply =
  | { type: "response"; response: HttpResponse }
  /** The run ended; `error` is the component's own. */
  | { type: "ended"; error?: { code: string; message: string } };

/** Hears of the runs that this process waits for. */
export interface Replies {
  /** Name to be put into the run's `reply_to`. */
  address: string;
  /** The first reply of a run, or null when `timeoutMs` passed. Ask before the run is enqueued. */
  first(runId: string, timeoutMs: number): Promise<Reply | null>;
  close(): Promise<void>;
}

/** Sends a reply on a process's channel; lost when nobody waits any more, which is what a time-out there means. */
export async function sendReply(
  redis: RedisClient,
  channel: string,
  runId: string,
  reply: Reply,
): Promise<void> {
  await redis.publish(channel, JSON.stringify({ run_id: runId, reply }));
}

/** Subscribes a client of its own to this process's channel; one connection for all waits. */
export async function openReplies(redis: RedisClient, channel: string, address: string): Promise<Replies> {
  const waiting = new Map<string, (reply: Reply | null) => void>();
  redis.on("message", (_channel: string, text: string) => {
    const { run_id, reply } = JSON.parse(text) as { run_id: string; reply: Reply };
    waiting.get(run_id)?.(reply);
  });
  await redis.subscribe(channel);
  return {
    address,
    first(runId, timeoutMs) {
      return new Promise(resolve => {
        const settle = (reply: Reply | null) => {
          clearTimeout(timer);
          waiting.delete(runId);
          resolve(reply);
        };
        const timer = setTimeout(() => settle(null), timeoutMs);
        waiting.set(runId, settle);
      });
    },
    async close() {
      for (const settle of waiting.values()) settle(null);
      redis.disconnect();
    },
  };
}
