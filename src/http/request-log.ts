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
  /** Ids of what the request made, such as the run of an event, for its log line. */
  ids?: Record<string, string>;
  /** Detail of the problem that was sent. */
  error?: string;
}

/** Returns the state of a request. Needs `requestLog` to be the first middleware. */
export function requestState(ctx: Context): RequestState {
  return ctx.state as RequestState;
}

/** A caller's own request id is used if it can do no harm in a log or a header. */
const SAFE_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

/** Codes of what a stream or socket throws once the other side is gone. */
const CLIENT_LEFT = new Set([
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_STREAM_DESTROYED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
]);

/** Returns true for the error of a response whose client left before its end, which is not a fault of ours. */
export const hasClientLeft = (error: unknown): boolean =>
  error instanceof Error && CLIENT_LEFT.has((error as NodeJS.ErrnoException).code ?? "");

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
          ...state.ids,
          ...(status >= 400 && { error: state.error }),
          ...(!ctx.res.writableFinished && { aborted: true }),
        },
        "request",
      );
    });
    await next();
  };
}
