import type { Context, Middleware } from "koa";
import { notFound } from "../lib/errors.ts";
import { problemOf } from "./problem.ts";
import { requestState } from "./request-log.ts";

/** Responds with the problem of `error`; an unexpected error is also logged with its cause. */
export function respondProblem(ctx: Context, error: unknown): void {
  const { problem, headers } = problemOf(error);
  const state = requestState(ctx);
  if (problem.status === 500) state.log.error({ err: error }, "request failed");
  state.error = problem.detail;
  ctx.status = problem.status;
  ctx.set(headers);
  ctx.body = problem;
  ctx.type = "application/problem+json";
}

/**
 * Turns every error into a response; comes right after `requestLog`. A request that no middleware has handled becomes a
 * 404. Koa's own error handler, which drops headers and sends plain text, is only reached if this one fails.
 */
export function respondError(): Middleware {
  return async (ctx, next) => {
    try {
      await next();
      if (ctx.status === 404 && ctx.body === undefined) throw notFound("path");
    } catch (error) {
      respondProblem(ctx, error);
    }
  };
}
