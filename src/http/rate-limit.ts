import type { Cluster, Redis } from "ioredis";
import type { Context } from "koa";
import { BurstyRateLimiter, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { AppError } from "../lib/errors.ts";
import { requestState } from "./request-log.ts";

/** What is left for a key after one request was counted. */
export interface RateState {
  ok: boolean;
  /** Requests per `windowMs`. */
  limit: number;
  windowMs: number;
  remaining: number;
  /** Milliseconds until the window begins anew. */
  resetMs: number;
}

export type Consume = (key: string) => Promise<RateState>;

/** Counts one request of a key; throws `rate-limited` when it is one too many. */
export type RateLimit = (ctx: Context, key: string) => Promise<void>;

const seconds = (ms: number) => String(Math.max(1, Math.ceil(ms / 1000)));

/**
 * Tells every response where the key stands (`RateLimit-*`). When the count can't be taken the request passes: a limit
 * guards against too much, and an API that is down with its counter would be worse than one unlimited for a while.
 */
export function rateLimit(consume: Consume, refusal = "too many requests with this API key"): RateLimit {
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
    throw new AppError("rate-limited", refusal, {
      retryAfterMs: Math.max(1, state.resetMs),
    });
  };
}

export interface KeyRateOptions {
  /** Put before the Redis keys. */
  keyPrefix: string;
  /** Requests per `durationS` that may go on for ever. */
  points: number;
  durationS: number;
  /** Requests at most in one `durationS`, as long as there is credit for a burst. */
  burst: number;
}

/** Credit for bursts comes back over this many windows, so that a steady caller stays near `points`. */
const BURST_WINDOWS = 10;

/** Counts in Redis, so that all web processes share one limit. */
export function createKeyRateLimiter(redis: Redis | Cluster, options: KeyRateOptions): Consume {
  const { keyPrefix, points, durationS, burst } = options;
  const limiter = (name: string, limit: number, duration: number) =>
    new RateLimiterRedis({
      storeClient: redis,
      keyPrefix: `${keyPrefix}:${name}`,
      points: limit,
      duration,
      // A client that waits for its connection would hold the request instead of failing.
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
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) return stateOf(false, refusal);
      throw refusal;
    }
  };
}
