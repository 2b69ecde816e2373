import type { Cluster, Redis } from "ioredis";
import ipaddr from "ipaddr.js";
import { type RateLimiterAbstract, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { AppError } from "../lib/errors.ts";

export interface GuessLimitOptions {
  /** Put before the Redis keys. */
  keyPrefix: string;
  /** Wrong guesses that one client has in `durationS`. */
  points: number;
  durationS: number;
}

/**
 * Counts a wrong guess of the client at this address; a right one is only held against the count. Throws
 * `rate-limited` for both alike once the count is used up, so that nothing tells a right guess from a wrong one then,
 * and `unavailable` with Redis away: unlike other limits this one guards a secret.
 */
export type GuessLimit = (address: string, isRight: boolean) => Promise<void>;

/** Counts in Redis, so that all web processes share one limit. */
export function createGuessLimit(redis: Redis | Cluster, options: GuessLimitOptions): GuessLimit {
  const limiter = new RateLimiterRedis({
    storeClient: redis,
    ...{ keyPrefix: options.keyPrefix, points: options.points, duration: options.durationS },
    rejectIfRedisNotReady: true,
  });
  return async (address, isRight) => {
    const usedUp = await look(limiter, clientKey(address), isRight);
    if (usedUp === null) return;
    throw new AppError("rate-limited", "too many wrong guesses from this address", {
      retryAfterMs: Math.max(1, usedUp.msBeforeNext),
    });
  };
}

async function look(
  limiter: RateLimiterAbstract,
  key: string,
  isRight: boolean,
): Promise<RateLimiterRes | null> {
  try {
    if (!isRight) {
      await limiter.consume(key);
      return null;
    }
    const counted = await limiter.get(key);
    return counted !== null && counted.consumedPoints >= limiter.points ? counted : null;
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return refusal;
    throw new AppError("unavailable", "guesses can't be counted now", { cause: refusal, retryAfterMs: 1000 });
  }
}

/** Whoever has one IPv6 address has its /64, so that is one client. */
function clientKey(address: string): string {
  if (!ipaddr.isValid(address)) return "unknown";
  const client = ipaddr.process(address);
  if (client.kind() === "ipv4") return client.toString();
  return client.toByteArray().slice(0, 8).join("-");
}
