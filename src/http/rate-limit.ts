import type { Context } from "koa";
import { AppError } from "../lib/errors.ts";
import type { Consume, RateState } from "../store/key-rate.ts";
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
