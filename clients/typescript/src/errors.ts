import type { Problem } from "./schema.ts";

/** What is wrong with one parameter or field. */
export type FieldError = NonNullable<Problem["errors"]>[number];

/** The base of every error that this package throws by itself. */
export class HeadwaterError extends Error {
  override name = "HeadwaterError";
}

/** No response arrived, also not after the retries; `cause` is the error of `fetch`. */
export class ConnectionError extends HeadwaterError {
  override name = "ConnectionError";
}

/** No response arrived within `timeoutMs`, also not after the retries. */
export class TimeoutError extends ConnectionError {
  override name = "TimeoutError";
}

/** The live stream ended for good: the caller lost access. */
export class StreamEndedError extends HeadwaterError {
  override name = "StreamEndedError";
  /** For example `key-revoked`, `key-expired` or `access-lost`. */
  readonly reason: string;

  constructor(reason: string) {
    super(`the live stream has ended: ${reason}`);
    this.reason = reason;
  }
}

/** What an `ApiError` is made of. */
export interface ApiErrorDetails {
  /** `GET /v1/sources/dc_…` */
  request: string;
  status: number;
  problem: Partial<Problem>;
  requestId: string | null;
  retryAfterMs: number | null;
}

/** A response outside 2xx. Each kind of problem has a class of its own below. */
export class ApiError extends HeadwaterError {
  override name = "ApiError";
  readonly status: number;
  /** The kind of problem: the last part of its `type`, such as `not-found`; empty if something in between responded. */
  readonly code: string;
  readonly title: string;
  /** What the server says, without the request that `message` begins with. */
  readonly detail: string;
  /** What is wrong with which field; empty if no field is at fault. */
  readonly errors: readonly FieldError[];
  /** Identifies the request in the log of the server; null if the response had no such header. */
  readonly requestId: string | null;
  /** After which time the same request may succeed, as the server said; null if it did not. */
  readonly retryAfterMs: number | null;

  constructor({ request, status, problem, requestId, retryAfterMs }: ApiErrorDetails) {
    const detail = problem.detail ?? problem.title ?? `status ${status}`;
    super(`${request}: ${detail}`);
    this.detail = detail;
    this.status = status;
    this.code = codeOf(problem);
    this.title = problem.title ?? `Status ${status}`;
    this.errors = problem.errors ?? [];
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/** 400: a parameter or field is missing, unknown or invalid; `errors` names each. */
export class InvalidError extends ApiError {
  override name = "InvalidError";
}

/** 401: there is no API key, or it is unknown or revoked. */
export class UnauthenticatedError extends ApiError {
  override name = "UnauthenticatedError";
}

/** 403: the caller is not allowed to do this. */
export class ForbiddenError extends ApiError {
  override name = "ForbiddenError";
}

/** 403: the account has as many of these as its plan allows. */
export class LimitReachedError extends ApiError {
  override name = "LimitReachedError";
}

/** 404: it does not exist, or belongs to another account. */
export class NotFoundError extends ApiError {
  override name = "NotFoundError";
}

/** 405: the path does not support this method. */
export class MethodNotAllowedError extends ApiError {
  override name = "MethodNotAllowedError";
}

/** 409: contradicts what is stored, or another request that is under way. */
export class ConflictError extends ApiError {
  override name = "ConflictError";
}

/** 412: the thing is not at the revision that `ifMatch` named. Nothing was changed. */
export class PreconditionFailedError extends ApiError {
  override name = "PreconditionFailedError";
  /** The revision that it has now. */
  readonly revision: number;
  /** The fields that other requests have set since the revision that was named. */
  readonly changed: readonly string[];

  constructor(details: ApiErrorDetails) {
    super(details);
    const { revision = 0, changed = [] } = details.problem;
    this.revision = revision;
    this.changed = changed;
  }
}

/** 408: the request took too long to arrive. */
export class TooSlowError extends ApiError {
  override name = "TooSlowError";
}

/** 413: the body is too large. */
export class TooLargeError extends ApiError {
  override name = "TooLargeError";
}

/** 415: the body is not JSON. */
export class UnsupportedMediaTypeError extends ApiError {
  override name = "UnsupportedMediaTypeError";
}

/** 431: the headers are too large. */
export class HeadersTooLargeError extends ApiError {
  override name = "HeadersTooLargeError";
}

/** 429: too many requests, or too much that waits; `retryAfterMs` says how long to wait. */
export class RateLimitedError extends ApiError {
  override name = "RateLimitedError";
}

/** 503: something that the request needs is unavailable; nothing was accepted. */
export class UnavailableError extends ApiError {
  override name = "UnavailableError";
}

/** 504: the component did not respond in time. */
export class ComponentTimeoutError extends ApiError {
  override name = "ComponentTimeoutError";
}

/** 500: the server failed; `requestId` finds the reason in its log. */
export class InternalError extends ApiError {
  override name = "InternalError";
}

/** The class of each kind of problem that the server knows. */
export const ERROR_CLASSES: Readonly<Record<string, typeof ApiError>> = {
  invalid: InvalidError,
  unauthenticated: UnauthenticatedError,
  forbidden: ForbiddenError,
  "limit-reached": LimitReachedError,
  "not-found": NotFoundError,
  "method-not-allowed": MethodNotAllowedError,
  conflict: ConflictError,
  "precondition-failed": PreconditionFailedError,
  "too-slow": TooSlowError,
  "too-large": TooLargeError,
  "unsupported-media-type": UnsupportedMediaTypeError,
  "headers-too-large": HeadersTooLargeError,
  "rate-limited": RateLimitedError,
  unavailable: UnavailableError,
  timeout: ComponentTimeoutError,
  internal: InternalError,
};

/** Makes the error of a response: of the class of its problem, or an `ApiError` for one that this version does not know. */
export function errorOf(details: ApiErrorDetails): ApiError {
  const code = codeOf(details.problem);
  const Class = Object.hasOwn(ERROR_CLASSES, code) ? ERROR_CLASSES[code] : undefined;
  return new (Class ?? ApiError)(details);
}

const codeOf = ({ type }: Partial<Problem>): string =>
  typeof type === "string" ? (type.split("#")[1] ?? "") : "";
