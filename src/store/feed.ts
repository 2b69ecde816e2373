import { inProducerTime, type RedisClient } from "./redis.ts";

/** Messages of pub/sub channels to whoever in this process listens; one connection for all. */
export interface Feed {
  /** Calls `hear` with each message from now on; answers how to stop. Throws `unavailable` with Redis away. */
  listen(channel: string, hear: (message: string) => void): Promise<() => Promise<void>>;
  close(): void;
}

/** Takes a client over: one that has subscribed takes no other commands. */
export function openFeed(redis: RedisClient): Feed {
  const listeners = new Map<string, Set<(message: string) => void>>();
  redis.on("message", (channel: string, message: string) => {
    for (const hear of listeners.get(channel) ?? []) hear(message);
  });
  return {
    async listen(channel, hear) {
      const heard = listeners.get(channel) ?? new Set();
      heard.add(hear);
      listeners.set(channel, heard);
      const stop = async () => {
        heard.delete(hear);
        if (heard.size > 0 || listeners.get(channel) !== heard) return;
        listeners.delete(channel);
        await redis.unsubscribe(channel);
      };
      try {
        await inProducerTime(redis.subscribe(channel));
      } catch (error) {
        void stop().catch(() => undefined);
        throw error;
      }
      return stop;
    },
    close: () => redis.disconnect(),
  };
}
