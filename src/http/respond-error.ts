import type { Context, Middleware } from "koa";
import { notFound } from "../lib/errors.ts";
import { problemOf } from "./problem.ts";
import { requestState } from "./request-log.ts";

/** Answers with the problem of `error`; what is no refusal of ours goes to the log with its cause. */
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
 * The single exit for errors, right after `requestLog`. What nobody below has answered is a 404. Koa's own handler
 * (which drops headers and sends text) stays as the net below this one.
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
