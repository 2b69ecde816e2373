import type { HttpResponse } from "../sandbox/protocol.ts";
import type { RedisClient } from "../store/redis.ts";

/** What a worker sends to the process that waits for a run. */
export type Reply =
  | { type: "response"; response: HttpResponse }
  /** The run ended; `error` is the component's own. */
  | { type: "ended"; error?: { code: string; message: string } };

/** Receives replies to the runs that this process waits for. */
export interface Replies {
  /** The name to put into a run's `reply_to`. */
  address: string;
  /** The first reply to a run, or null after `timeoutMs`. Must be called before the run is enqueued. */
  first(runId: string, timeoutMs: number): Promise<Reply | null>;
  close(): Promise<void>;
}

/** Publishes a reply on a process's channel; it is lost if no process waits any longer, which is a timeout there. */
export async function sendReply(
  redis: RedisClient,
  channel: string,
  runId: string,
  reply: Reply,
): Promise<void> {
  await redis.publish(channel, JSON.stringify({ run_id: runId, reply }));
}

/**
 * Subscribes a client to this process's channel and takes ownership of it, also if it throws; one connection serves
 * every wait.
 */
export async function openReplies(redis: RedisClient, channel: string, address: string): Promise<Replies> {
  const waiting = new Map<string, (reply: Reply | null) => void>();
  redis.on("message", (_channel: string, text: string) => {
    const { run_id, reply } = JSON.parse(text) as { run_id: string; reply: Reply };
    waiting.get(run_id)?.(reply);
  });
  try {
    await redis.subscribe(channel);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  return {
    address,
    first(runId, timeoutMs) {
      return new Promise(resolve => {
        const end = (reply: Reply | null) => {
          clearTimeout(timer);
          waiting.delete(runId);
          resolve(reply);
        };
        const timer = setTimeout(() => end(null), timeoutMs);
        waiting.set(runId, end);
      });
    },
    async close() {
      for (const end of waiting.values()) end(null);
      redis.disconnect();
    },
  };
}
