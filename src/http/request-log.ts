import { randomUUID } from "node:crypto";
import type { Context, Middleware } from "koa";
import type { Logger } from "../lib/logger.ts";

/** What is known of a request while it is served; lives in `ctx.state`. */
export interface RequestState {
  requestId: string;
  /** Every line of it carries the request id. */
  log: Logger;
  /** The route's pattern, never the path itself: a line per resource would be no use, and a path may hold a key. */
  route?: string;
  userId?: string;
  /** Detail of the problem that was answered. */
  error?: string;
}

/** The state that `requestLog` has put there; it must stand first. */
export function requestState(ctx: Context): RequestState {
  return ctx.state as RequestState;
}

/** A caller's own id is taken over when it can do no harm in a log or a header. */
const SANE_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

/**
 * Gives every request its id and its logger, and writes one line when its response is out (style.md, no. 24). Neither the
 * query string nor a header is logged: both may hold secrets.
 */
export function requestLog(log: Logger): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    const given = ctx.get("x-request-id");
    const requestId = SANE_ID.test(given) ? given : randomUUID();
    const state = Object.assign(requestState(ctx), { requestId, log: log.child({ request_id: requestId }) });
    ctx.set("X-Request-Id", requestId);
    // At the end of the response, so that a stream counts with its whole length.
    ctx.res.once("close", () => {
      const { status } = ctx;
      state.log[status >= 500 ? "warn" : "info"](
        {
          method: ctx.method,
          route: state.route ?? null,
          status,
          ms: Math.round(performance.now() - startedAt),
          ...(state.userId && { user_id: state.userId }),
          ...(status >= 400 && { error: state.error }),
          ...(!ctx.res.writableFinished && { aborted: true }),
        },
        "request",
      );
    });
    await next();
  };
}
