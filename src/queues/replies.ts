import { createBatcher } from "../lib/batcher.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { HttpResponse } from "../sandbox/protocol.ts";
import type { RedisClient } from "../store/connections/redis.ts";
import type { RedisKeys } from "../store/keys.ts";
import { script } from "../store/lua.ts";

/** What a worker sends to the process that waits for a run. */
export type Reply =
  | { type: "response"; response: HttpResponse }
  /** The run ended; `error` is the component's own. */
  | { type: "ended"; error?: { code: string; message: string; stack?: string } };

/** Receives replies to the runs that this process waits for. */
export interface Replies {
  /** The name to put into a run's `reply_to`. */
  address: string;
  /** The first reply to a run, or null after `timeoutMs`. Must be called before the run is enqueued. */
  first(runId: string, timeoutMs: number): Promise<Reply | null>;
  close(): Promise<void>;
}

const send = script<null>("send-reply");

const TOO_LARGE: Reply = {
  type: "ended",
  error: { code: "Response Too Large", message: "the response with its headers is too large to be sent" },
};

/**
 * Sends a reply to the process that waits for a run, if any does. The reply itself is a key that expires, and only its name and size are published: Redis cuts
 * off a subscriber for which too many bytes wait, and with it every run that it waits for. A reply is lost if no process
 * waits any longer, which is a timeout there.
 */
export async function reply(
  { redis, keys }: { redis: RedisClient; keys: RedisKeys },
  { run_id, reply_to }: { run_id: string; reply_to?: string | undefined },
  message: Reply,
): Promise<void> {
  if (!reply_to) return;
  const given = JSON.stringify(message);
  const isTooLarge = Buffer.byteLength(given) > LIMITS.replyBytes.value;
  const text = isTooLarge ? JSON.stringify(TOO_LARGE) : given;
  const name = `${run_id} ${Buffer.byteLength(text)}`;
  const channel = keys.replies(reply_to);
  await send(redis, [keys.reply(reply_to, run_id)], [text, LIMITS.replyKeptMs.value, channel, name]);
}

/** Bytes of replies that a process reads at a time, at least one reply: a few of the largest. */
const READ_BYTES = 4 * LIMITS.replyBytes.value;

/**
 * Subscribes a client to this process's channel and takes ownership of it, also if it throws; one connection serves every
 * wait. `redis` is the client that reads the replies.
 */
export async function openReplies(
  subscriber: RedisClient,
  redis: RedisClient,
  keys: RedisKeys,
  processId: string,
): Promise<Replies> {
  const waiting = new Map<string, (reply: Reply | null) => void>();
  const read = createBatcher(
    (batch: { key: string; bytes: number }[]) => Promise.all(batch.map(({ key }) => redis.getdel(key))),
    { maxWeight: READ_BYTES, weigh: ({ bytes }) => bytes, concurrency: 2 },
  );
  subscriber.on("message", (_channel: string, name: string) => {
    const [runId = "", bytes] = name.split(" ");
    const key = keys.reply(processId, runId);
    const end = waiting.get(runId);
    if (!end) {
      // The wait is over: the reply must not fill Redis until it expires.
      redis.unlink(key).catch(() => undefined);
      return;
    }
    read({ key, bytes: Number(bytes) }).then(
      text => end(text === null ? null : (JSON.parse(text) as Reply)),
      () => end(null),
    );
  });
  try {
    await subscriber.subscribe(keys.replies(processId));
  } catch (error) {
    subscriber.disconnect();
    throw error;
  }
  return {
    address: processId,
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
      subscriber.disconnect();
    },
  };
}
