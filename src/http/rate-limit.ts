import type { Cluster, Redis } from "ioredis";
import type { Context } from "koa";
import { type RateLimiterAbstract, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { AppError } from "../lib/errors.ts";
import type { Consume, RateState } from "../store/limits/key-rate.ts";
import { requestState } from "./request-log.ts";

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

export interface GuessLimitOptions {
  /** Prefix of the Redis keys. */
  keyPrefix: string;
  /** Wrong guesses in `durationS` seconds that are counted under one key. */
  points: number;
  durationS: number;
  /** What is guessed and by whom, as the error names it: `passwords from this address`. */
  what: string;
}

/**
 * Counts a wrong guess under a key, such as `clientKey` of who guesses; a right guess is only checked against the count. Throws
 * `rate-limited` for right and wrong guesses alike once the limit is reached, so that the response does not reveal
 * which one it was. Throws `unavailable` if Redis is away: unlike other limits, this one protects a secret.
 */
export type GuessLimit = (key: string, isRight: boolean) => Promise<void>;

/** Returns a limit that is counted in Redis, so that all web processes share it. */
export function createGuessLimit(redis: Redis | Cluster, options: GuessLimitOptions): GuessLimit {
  const limiter = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: options.keyPrefix,
    points: options.points,
    duration: options.durationS,
    rejectIfRedisNotReady: true,
  });
  return async (key, isRight) => {
    const exceeded = await countGuess(limiter, key, isRight);
    if (exceeded === null) return;
    throw new AppError("rate-limited", `too many wrong ${options.what}`, {
      retryAfterMs: Math.max(1, exceeded.msBeforeNext),
    });
  };
}

/** Returns the state of the key's limit if it is exceeded, otherwise null. */
async function countGuess(
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
  } catch (thrown) {
    // The limiter throws its state if the limit is exceeded, and an Error if Redis fails.
    if (thrown instanceof RateLimiterRes) return thrown;
    const message = "this can't be checked right now";
    throw new AppError("unavailable", message, { cause: thrown, retryAfterMs: 1000 });
  }
}
