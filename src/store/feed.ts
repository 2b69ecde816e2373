import { inProducerTime, type RedisClient } from "./connections/redis.ts";

export interface Subscriber {
  onMessage(message: string): void;
  /** The connection is lost: messages may be missed until it is back. */
  onLost(): void;
}

/** Pub/sub messages for this process's subscribers, over one connection. */
export interface Feed {
  /**
   * Calls the subscriber with each message from now on; returns a function that unsubscribes. Throws `unavailable`.
   */
  subscribe(channel: string, subscriber: Subscriber): Promise<() => Promise<void>>;
  close(): void;
}

/** Takes ownership of the client: a subscribed client accepts no other commands. */
export function openFeed(redis: RedisClient): Feed {
  const subscribers = new Map<string, Set<Subscriber>>();
  redis.on("message", (channel: string, message: string) => {
    for (const { onMessage } of subscribers.get(channel) ?? []) onMessage(message);
  });
  redis.on("close", () => {
    for (const ofChannel of [...subscribers.values()]) for (const { onLost } of [...ofChannel]) onLost();
  });
  return {
    async subscribe(channel, subscriber) {
      const ofChannel = subscribers.get(channel) ?? new Set();
      ofChannel.add(subscriber);
      subscribers.set(channel, ofChannel);
      const unsubscribe = async () => {
        ofChannel.delete(subscriber);
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
