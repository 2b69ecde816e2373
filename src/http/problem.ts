import type { Context, Middleware } from "koa";
import { AppError, type ErrorCode, type FieldError, notFound } from "../lib/errors.ts";
import { requestState } from "./request-log.ts";

/**
 * An RFC 9457 problem. `error` repeats `detail`, because clients of this kind of API read it (docs/design.md#errors).
 */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  error: string;
  errors?: FieldError[];
  /** With `precondition-failed`: the revision that the resource has now. */
  revision?: number;
  /** With `precondition-failed`: the fields that requests have set since the wanted revision. */
  changed?: string[];
}

interface ProblemKind {
  status: number;
  title: string;
  /** One or two sentences for the page that `type` links to. */
  meaning: string;
}

/** Maps error codes to HTTP. */
export const PROBLEMS: Record<ErrorCode | "headers-too-large" | "too-slow" | "internal", ProblemKind> = {
  invalid: {
    status: 400,
    title: "Invalid request",
    meaning: "A parameter or field is missing, unknown or invalid; `errors` lists each one.",
  },
  unauthenticated: {
    status: 401,
    title: "API key required",
    meaning:
      "The header `Authorization: Bearer <API key>` is missing or malformed, or the key is unknown, revoked or expired.",
  },
  forbidden: {
    status: 403,
    title: "Not allowed",
    meaning:
      "The caller is not allowed to do this; of what an organization owns, `detail` names the role that is needed, and for an API key " +
      "that may not do everything, the access.",
  },
  "limit-reached": {
    status: 403,
    title: "Limit reached",
    meaning:
      "The account has as many of these as its plan allows; `GET /v1/users/me` lists the limits and what is in use.",
  },
  "not-found": {
    status: 404,
    title: "Not found",
    meaning: "The resource does not exist, or it belongs to another account.",
  },
  "method-not-allowed": {
    status: 405,
    title: "Method not allowed",
    meaning: "The path does not support this method; the `Allow` header lists the methods it supports.",
  },
  "too-slow": {
    status: 408,
    title: "Too slow",
    meaning: "The request did not arrive in time. Nothing was accepted.",
  },
  conflict: {
    status: 409,
    title: "Conflict",
    meaning: "The request conflicts with stored data or with another request in progress.",
  },
  "precondition-failed": {
    status: 412,
    title: "Precondition failed",
    meaning:
      "The resource is no longer at the revision that `If-Match` names: `revision` is the present one, and `changed` has the " +
      "fields that other requests have set since. Nothing was changed.",
  },
  "too-large": {
    status: 413,
    title: "Too large",
    meaning: "The request body is larger, or has more parts, than the limit.",
  },
  "unsupported-media-type": {
    status: 415,
    title: "Unsupported media type",
    meaning: "A request body must be JSON, with `Content-Type: application/json`.",
  },
  "headers-too-large": {
    status: 431,
    title: "Headers too large",
    meaning: "The request line and the headers are larger than 16 KB in total.",
  },
  "rate-limited": {
    status: 429,
    title: "Too many requests",
    meaning: "Too many requests were sent; `Retry-After` is the number of seconds to wait.",
  },
  unavailable: {
    status: 503,
    title: "Temporarily unavailable",
    meaning:
      "Something that the request needs is unavailable. Nothing was accepted; the same request may succeed later.",
  },
  timeout: { status: 504, title: "Timed out", meaning: "The component did not respond in time." },
  internal: {
    status: 500,
    title: "Internal error",
    meaning: "The server failed; its log has the details under the request id.",
  },
};

/** Shown instead of the message of an unexpected error, which may contain internals. */
const FIXED_DETAIL = "an internal error occurred; the X-Request-Id header identifies it in the log";

/** Errors thrown by Koa carry a status; any 4xx status without a code of its own becomes `invalid`. */
function codeOfStatus(status: number): keyof typeof PROBLEMS {
  if (!(status >= 400 && status < 500)) return "internal";
  const codes = Object.keys(PROBLEMS) as (keyof typeof PROBLEMS)[];
  return codes.find(code => PROBLEMS[code].status === status) ?? "invalid";
}

export interface ProblemResponse {
  problem: Problem;
  headers: Record<string, string>;
}

/** Returns the response to an error. Only the message of an `AppError` is shown; any other error gets a fixed text. */
export function problemOf(error: unknown): ProblemResponse {
  const status = error instanceof Error && "status" in error ? Number(error.status) : 500;
  const code = error instanceof AppError ? error.code : codeOfStatus(status);
  const kind = PROBLEMS[code];
  const fallback = code === "internal" ? FIXED_DETAIL : kind.title.toLowerCase();
  const detail = error instanceof AppError ? error.message : fallback;
  const fields = error instanceof AppError ? error.fields : [];
  const changed = error instanceof AppError ? error.changed : undefined;
  const headers: Record<string, string> = {};
  if (code === "unauthenticated") {
    const challenge = error instanceof AppError ? error.challenge : undefined;
    headers["WWW-Authenticate"] = ['Bearer realm="headwater"', ...(challenge ? [challenge] : [])].join(", ");
  }
  if (
    code === "rate-limited" ||
    code === "unavailable" ||
    (error instanceof AppError && error.retryAfterMs)
  ) {
    const waitMs = (error instanceof AppError && error.retryAfterMs) || 1000;
    headers["Retry-After"] = String(Math.ceil(waitMs / 1000));
  }
  return {
    headers,
    problem: {
      type: `/docs/errors#${code}`,
      title: kind.title,
      status: kind.status,
      detail,
      error: detail,
      ...(fields.length > 0 && { errors: fields }),
      ...(changed && { revision: changed.revision, changed: changed.fields }),
    },
  };
}

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
