/** What went wrong, in one closed vocabulary; http/problem.ts maps it to HTTP, queues/run-worker.ts to job verdicts. */
export type ErrorCode =
  | "invalid"
  | "unauthenticated"
  | "forbidden"
  | "limit-reached"
  | "not-found"
  | "method-not-allowed"
  | "conflict"
  | "too-large"
  | "unsupported-media-type"
  | "rate-limited"
  | "unavailable"
  | "timeout";

/** One rejected field: where it was given, its path, and what is wrong with it. */
export interface FieldError {
  in: "path" | "query" | "body" | "header" | "env" | "job" | "component";
  path: string;
  message: string;
}

export interface ErrorDetails {
  fields?: FieldError[];
  /** Milliseconds after which the same request may succeed. */
  retryAfterMs?: number;
  cause?: unknown;
}

/** An expected failure. `message` is shown to the caller, so it never contains a secret or an internal detail. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly fields: FieldError[];
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "AppError";
    this.code = code;
    this.fields = details.fields ?? [];
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** Returns an `invalid` error (400) that names one field. */
export function invalidField(where: FieldError["in"], path: string, message: string): AppError {
  return new AppError("invalid", `${path}: ${message}`, { fields: [{ in: where, path, message }] });
}

/** Returns a `not-found` error (404), which is the same for "absent" and "not yours" (docs/design.md#guarantee-6). */
export function notFound(what: string): AppError {
  return new AppError("not-found", `${what} not found`);
}
