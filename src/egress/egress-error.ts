import { errors } from "undici";

/** Why a way out failed; closed, so that a caller can decide by it (design.md, "Egress guard"). */
export type EgressErrorCode =
  | "blocked-address"
  | "dns"
  | "connect"
  | "timeout"
  | "tls"
  | "reset"
  | "protocol"
  | "invalid-url";

/** An outgoing connection or request that failed. `message` names the host, never an address that was refused. */
export class EgressError extends Error {
  readonly code: EgressErrorCode;

  constructor(code: EgressErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "EgressError";
    this.code = code;
  }
}

const TLS_CODE = /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;
const CONNECT_CODE = /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EACCES|EPERM|EINVAL)$/;
const TIMEOUT_CODE = /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/;
const NO_HTTP = [
  errors.HTTPParserError,
  errors.HeadersOverflowError,
  errors.ResponseContentLengthMismatchError,
];
/** undici takes for its own mistake that a server switches protocols unasked. */
const UNASKED_UPGRADE = "ERR_ASSERTION";

/** Translates whatever a socket or undici threw; what nothing else fits ended the connection early: `reset`. */
export function toEgressError(error: unknown, host: string): EgressError {
  if (error instanceof EgressError) return error;
  const given = error as { code?: string; message?: string; reason?: string };
  const { code = "", message = String(error) } = given;
  if (TLS_CODE.test(code)) {
    // OpenSSL's message holds places in its source; its reason is the sentence.
    return new EgressError("tls", `TLS with ${host} failed: ${given.reason ?? message}`, error);
  }
  if (CONNECT_CODE.test(code)) return new EgressError("connect", `no connection to ${host}: ${code}`, error);
  if (TIMEOUT_CODE.test(code)) return new EgressError("timeout", `${host} did not answer in time`, error);
  if (code === UNASKED_UPGRADE || NO_HTTP.some(kind => error instanceof kind)) {
    return new EgressError("protocol", `${host} did not answer in valid HTTP`, error);
  }
  return new EgressError("reset", `connection to ${host} ended early: ${code || message}`, error);
}
