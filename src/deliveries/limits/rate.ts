import { LRUCache } from "lru-cache";
import { gather } from "../../lib/batcher.ts";
import { groupBy } from "../../lib/group-by.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Platform } from "../../platform.ts";

type Paced = Pick<Webhook, "_id" | "rate_limit_per_second">;

/** The rate limits of webhooks, as one process sees them: first attempts ask here for their tokens. */
export interface Pace {
  /** False when it is known, without asking Redis, that no token is there. */
  mayBegin(webhook: Paced): boolean;
  /** Takes a token, if there is one beside those for who is in line. */
  begin(webhook: Paced): Promise<boolean>;
}

export const isPaced = ({ rate_limit_per_second: limit }: Paced): boolean => (limit ?? null) !== null;

/** The line, which has the tokens first, is not through in less. Milliseconds. */
const LINE_MS = 50;

export function openPace(platform: Pick<Platform, "places">): Pace {
  const empty = new LRUCache<string, true>({ max: 10_000 });

  const take = gather(
    async (asking: Paced[]) => {
      const got = new Map<string, number>();
      await Promise.all(
        [...groupBy(asking, ({ _id }) => _id)].map(async ([id, of]) => {
          const perSecond = of[0]?.rate_limit_per_second ?? 1;
          const { taken, nextInMs } = await platform.places.takeTokens(id, of.length, perSecond, true);
          got.set(id, taken);
          if (taken < of.length) empty.set(id, true, { ttl: Math.max(nextInMs, LINE_MS) });
        }),
      );
      return asking.map(({ _id }) => {
        const left = got.get(_id) ?? 0;
        got.set(_id, left - 1);
        return left > 0;
      });
    },
    { most: 1000 },
  );

  return {
    mayBegin: webhook => !isPaced(webhook) || !empty.has(webhook._id),
    begin: async webhook => !isPaced(webhook) || (await take(webhook)),
  };
}
