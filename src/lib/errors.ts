/** What went wrong, in one closed vocabulary; http/problem.ts maps it to HTTP, queues/verdicts.ts to job verdicts. */
export type ErrorCode =
  | "invalid"
  | "unauthenticated"
  | "forbidden"
  | "limit-reached"
  | "not-found"
  | "method-not-allowed"
  | "conflict"
  | "precondition-failed"
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
  /** Of a resource that is not as the request wants it: its revision now, and the fields that were set since. */
  changed?: ChangedSince;
  /** What `WWW-Authenticate` says beside the scheme of a request without a credential that is accepted. */
  challenge?: string;
  cause?: unknown;
}

/** What became of a resource since a revision. */
export interface ChangedSince {
  revision: number;
  fields: string[];
}

/** An expected failure. `message` is shown to the caller, so it never contains a secret or an internal detail. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly fields: FieldError[];
  readonly retryAfterMs: number | undefined;
  readonly changed: ChangedSince | undefined;
  readonly challenge: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "AppError";
    this.code = code;
    this.fields = details.fields ?? [];
    this.retryAfterMs = details.retryAfterMs;
    this.changed = details.changed;
    this.challenge = details.challenge;
  }
}

/** Returns an `invalid` error (400) that names one field. */
export const invalidField = (where: FieldError["in"], path: string, message: string): AppError =>
  invalidFields([{ in: where, path, message }]);

/** Returns an `invalid` error (400) that names these fields; `what` says before them what is wrong as a whole. */
export function invalidFields(fields: FieldError[], what?: string): AppError {
  const listed = fields.map(({ path, message }) => `${path}: ${message}`).join("; ");
  return new AppError("invalid", what === undefined ? listed : `${what}: ${listed}`, { fields });
}

/** Returns a `not-found` error (404), which is the same for "absent" and "not yours" (docs/design.md#guarantee-6). */
export function notFound(what: string): AppError {
  return new AppError("not-found", `${what} not found`);
}

/** Exit code of a process with unusable settings (EX_CONFIG): starting it again can't help. */
export const EXIT_CONFIG = 78;

/**
 * Settings, or stores that they name, with which a process must not start. `message` is one line that names the setting and
 * holds no secret.
 */
export class SetupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s+/g, " "), options);
    this.name = "SetupError";
  }
}

/** Returns the exit code of a process that can't start. */
export const exitCodeOf = (error: unknown): number => (error instanceof SetupError ? EXIT_CONFIG : 1);

/** What OpenSSL and Node say of a certificate that can't be verified. */
const CODES = new Set<unknown>([
  ...["DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
  ...["UNABLE_TO_GET_ISSUER_CERT", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "CERT_UNTRUSTED", "CERT_REJECTED"],
  ...["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID", "ERR_TLS_CERT_ALTNAME_INVALID", "INVALID_CA"],
]);

/** Returns true if the error, or one that caused it, says that a server's certificate can't be verified. */
export function isUntrustedCertificate(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (CODES.has((one as NodeJS.ErrnoException).code)) return true;
  }
  return false;
}
