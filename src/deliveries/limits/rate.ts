import { LRUCache } from "lru-cache";
import { createBatcher } from "../../lib/batcher.ts";
import { groupBy } from "../../lib/lists.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Queued } from "../../platform.ts";

type RateLimited = Pick<Webhook, "_id" | "rate_limit_per_second">;

/** The rate limits of webhooks, as one process sees them: first attempts acquire their tokens here. */
export interface RateLimits {
  /** Returns true if it is known, without asking Redis, that no token is available. */
  isExhausted(webhook: RateLimited): boolean;
  /** Acquires a token, unless those left belong to the webhook's backlog. A webhook without a limit always has one. */
  tryAcquire(webhook: RateLimited): Promise<boolean>;
}

export const isRateLimited = ({ rate_limit_per_second: limit }: RateLimited): boolean =>
  (limit ?? null) !== null;

/** A backlog, which goes first, needs at least this long. Milliseconds. */
const BACKLOG_MS = 50;

export function openRateLimits(platform: Queued): RateLimits {
  const exhausted = new LRUCache<string, true>({ max: 10_000 });

  const acquire = createBatcher(
    async (webhooks: RateLimited[]) => {
      const acquired = new Map<string, number>();
      await Promise.all(
        [...groupBy(webhooks, ({ _id }) => _id)].map(async ([id, group]) => {
          const perSecond = group[0]?.rate_limit_per_second ?? 1;
          const tokens = await platform.permits.acquireTokens(id, group.length, perSecond, true);
          acquired.set(id, tokens.acquired);
          const ttl = Math.max(tokens.nextInMs, BACKLOG_MS);
          if (tokens.acquired < group.length) exhausted.set(id, true, { ttl });
        }),
      );
      return webhooks.map(({ _id }) => {
        const left = acquired.get(_id) ?? 0;
        acquired.set(_id, left - 1);
        return left > 0;
      });
    },
    { maxWeight: 1000 },
  );

  return {
    isExhausted: webhook => isRateLimited(webhook) && exhausted.has(webhook._id),
    tryAcquire: async webhook => !isRateLimited(webhook) || (await acquire(webhook)),
  };
}
