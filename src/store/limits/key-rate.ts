import type { Cluster, Redis } from "ioredis";
import { BurstyRateLimiter, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";

/** The state of a key's limit after one request was counted. */
export interface RateState {
  /** False if the request exceeds the limit. */
  ok: boolean;
  /** Requests per `windowMs`. */
  limit: number;
  windowMs: number;
  remaining: number;
  /** Milliseconds until the window restarts. */
  resetMs: number;
}

/** Counts one request of a key. */
export type Consume = (key: string) => Promise<RateState>;

export interface KeyRateOptions {
  /** Prefix of the Redis keys. */
  keyPrefix: string;
  /** Sustained number of requests per `durationS` seconds. */
  points: number;
  durationS: number;
  /** Maximum number of requests in a single window of `durationS` seconds while there is credit for a burst. */
  burst: number;
}

/** Credit for bursts is restored over this many windows, so that a steady caller stays near `points`. */
const BURST_WINDOWS = 10;

/** Returns a counter in Redis, so that all web processes share one limit. */
export function createKeyRateLimiter(redis: Redis | Cluster, options: KeyRateOptions): Consume {
  const { keyPrefix, points, durationS, burst } = options;
  const limiter = (name: string, limit: number, duration: number) =>
    new RateLimiterRedis({
      storeClient: redis,
      keyPrefix: `${keyPrefix}:${name}`,
      points: limit,
      duration,
      // Without this, a request would wait for the connection to Redis instead of failing.
      rejectIfRedisNotReady: true,
    });
  const bursty = new BurstyRateLimiter(
    limiter("steady", points, durationS),
    limiter("burst", Math.max(0, burst - points), durationS * BURST_WINDOWS),
  );
  const stateOf = (ok: boolean, result: RateLimiterRes): RateState => ({
    ok,
    limit: points,
    windowMs: durationS * 1000,
    remaining: Math.max(0, result.remainingPoints),
    resetMs: result.msBeforeNext,
  });
  return async key => {
    try {
      return stateOf(true, await bursty.consume(key));
    } catch (thrown) {
      // The limiter throws its state if the limit is exceeded, and an Error if Redis fails.
      if (thrown instanceof RateLimiterRes) return stateOf(false, thrown);
      throw thrown;
    }
  };
}
