import type { Cluster, Redis } from "ioredis";
import type { Context } from "koa";
import { BurstyRateLimiter, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { AppError } from "../lib/errors.ts";
import { requestState } from "./request-log.ts";

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

/** Counts one request of a key; throws `rate-limited` if it exceeds the limit. */
export type RateLimit = (ctx: Context, key: string) => Promise<void>;

const seconds = (ms: number) => String(Math.max(1, Math.ceil(ms / 1000)));

/**
 * Returns a limit that also shows its state in the `RateLimit-*` headers of every response. `message` is the detail of
 * a rejection. If Redis can't count the request, the request passes: an API without limits for a while is better than
 * an API that is down.
 */
export function rateLimit(consume: Consume, message = "too many requests with this API key"): RateLimit {
  return async (ctx, key) => {
    let state: RateState;
    try {
      state = await consume(key);
    } catch (error) {
      requestState(ctx).log.warn({ err: error }, "request not counted against its rate limit");
      return;
    }
    ctx.set({
      "RateLimit-Limit": String(state.limit),
      "RateLimit-Remaining": String(state.remaining),
      "RateLimit-Reset": seconds(state.resetMs),
      "RateLimit-Policy": `${state.limit};w=${seconds(state.windowMs)}`,
    });
    if (state.ok) return;
    throw new AppError("rate-limited", message, { retryAfterMs: Math.max(1, state.resetMs) });
  };
}

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
