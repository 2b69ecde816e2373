import { inProducerTime, type RedisClient } from "./redis.ts";

/** Pub/sub messages for this process's subscribers, over one connection. */
export interface Feed {
  /** Calls `onMessage` with each message from now on; returns a function that unsubscribes. Throws `unavailable`. */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<() => Promise<void>>;
  close(): void;
}

/** Takes ownership of the client: a subscribed client accepts no other commands. */
export function openFeed(redis: RedisClient): Feed {
  const subscribers = new Map<string, Set<(message: string) => void>>();
  redis.on("message", (channel: string, message: string) => {
    for (const onMessage of subscribers.get(channel) ?? []) onMessage(message);
  });
  return {
    async subscribe(channel, onMessage) {
      const ofChannel = subscribers.get(channel) ?? new Set();
      ofChannel.add(onMessage);
      subscribers.set(channel, ofChannel);
      const unsubscribe = async () => {
        ofChannel.delete(onMessage);
        if (ofChannel.size > 0 || subscribers.get(channel) !== ofChannel) return;
        subscribers.delete(channel);
        await redis.unsubscribe(channel);
      };
      try {
        await inProducerTime(redis.subscribe(channel));
      } catch (error) {
        void unsubscribe().catch(() => undefined);
        throw error;
      }
      return unsubscribe;
    },
    close: () => redis.disconnect(),
  };
}
