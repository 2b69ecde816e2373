import { AppError, type ErrorCode, type FieldError } from "../lib/errors.ts";

/** An RFC 9457 problem; `error` repeats `detail`, because clients of this kind of API read it (design.md, "Errors"). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  error: string;
  errors?: FieldError[];
}

interface ProblemKind {
  status: number;
  title: string;
  /** One sentence for the page that `type` points at. */
  meaning: string;
}

/** The one table from error codes to HTTP. */
export const PROBLEMS: Record<ErrorCode | "headers-too-large" | "internal", ProblemKind> = {
  invalid: {
    status: 400,
    title: "Invalid request",
    meaning: "A parameter or a field is missing, unknown or wrong; `errors` names each.",
  },
  unauthenticated: {
    status: 401,
    title: "API key required",
    meaning: "The header `Authorization: Bearer <API key>` is missing, or the key is not known.",
  },
  forbidden: { status: 403, title: "Not allowed", meaning: "The caller may not do this." },
  "not-found": {
    status: 404,
    title: "Not found",
    meaning: "It does not exist, or belongs to somebody else.",
  },
  "method-not-allowed": {
    status: 405,
    title: "Method not allowed",
    meaning: "The path exists; the header `Allow` lists its methods.",
  },
  conflict: {
    status: 409,
    title: "Conflict",
    meaning: "It contradicts what is stored, or what is under way.",
  },
  "too-large": { status: 413, title: "Too large", meaning: "The request body is over the limit." },
  "unsupported-media-type": {
    status: 415,
    title: "Unsupported media type",
    meaning: "A request body has to be JSON, with `Content-Type: application/json`.",
  },
  "headers-too-large": {
    status: 431,
    title: "Headers too large",
    meaning: "The request line and the headers are over 16 KB in all.",
  },
  "rate-limited": {
    status: 429,
    title: "Too many requests",
    meaning: "`Retry-After` says after how many seconds the next one passes.",
  },
  unavailable: {
    status: 503,
    title: "Temporarily unavailable",
    meaning: "A store does not response; nothing was accepted, and the same request may succeed later.",
  },
  timeout: { status: 504, title: "Timed out", meaning: "What had to response did not do so in time." },
  internal: {
    status: 500,
    title: "Internal error",
    meaning: "A fault of ours; it is in the log by request id.",
  },
};

/** What is said where the error's own words are not for the caller. */
const FIXED_DETAIL = "an internal error occurred; the request id helps to find it";

/** Koa's own refusals carry a status; anything below 500 that has no row of its own is the caller's fault. */
function codeOfStatus(status: number): keyof typeof PROBLEMS {
  if (!(status >= 400 && status < 500)) return "internal";
  const codes = Object.keys(PROBLEMS) as (keyof typeof PROBLEMS)[];
  return codes.find(code => PROBLEMS[code].status === status) ?? "invalid";
}

export interface ProblemResponse {
  problem: Problem;
  headers: Record<string, string>;
}

/** The response to an error: an `AppError` in its own words, the rest in fixed ones (style.md, "Errors"). */
export function problemOf(error: unknown): ProblemResponse {
  const status = error instanceof Error && "status" in error ? Number(error.status) : 500;
  const code = error instanceof AppError ? error.code : codeOfStatus(status);
  const kind = PROBLEMS[code];
  const fallback = code === "internal" ? FIXED_DETAIL : kind.title.toLowerCase();
  const detail = error instanceof AppError ? error.message : fallback;
  const fields = error instanceof AppError ? error.fields : [];
  const headers: Record<string, string> = {};
  if (code === "unauthenticated") headers["WWW-Authenticate"] = 'Bearer realm="headwater"';
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
    },
  };
}
