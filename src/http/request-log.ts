import { randomUUID } from "node:crypto";
import type { Context, Middleware } from "koa";
import type { Logger } from "../lib/logger.ts";

/** What is known about a request while it is served; stored in `ctx.state`. */
export interface RequestState {
  requestId: string;
  /** Adds the request id to every line. */
  log: Logger;
  /** The route's pattern, never the path itself, which may contain a secret such as an endpoint's token. */
  route?: string;
  userId?: string;
  /** Detail of the problem that was sent. */
  error?: string;
}

/** Returns the state of a request. Needs `requestLog` to be the first middleware. */
export function requestState(ctx: Context): RequestState {
  return ctx.state as RequestState;
}

/** A caller's own request id is used if it can do no harm in a log or a header. */
const SAFE_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

/**
 * Assigns every request an id and a logger, and writes one log line when its response has been sent. Neither the query
 * string nor any header is logged, because both may contain secrets.
 */
export function requestLog(log: Logger): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    const given = ctx.get("x-request-id");
    const requestId = SAFE_ID.test(given) ? given : randomUUID();
    const state = Object.assign(requestState(ctx), { requestId, log: log.child({ request_id: requestId }) });
    ctx.set("X-Request-Id", requestId);
    // On close, so that the duration of a stream covers its whole length.
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
