import { errors } from "undici";

/** Why an outgoing connection or request failed. A closed list, so that callers can decide by it. */
export type EgressErrorCode =
  | "blocked-address"
  | "dns"
  /** This machine, not the other one, is out of sockets or memory. */
  | "local"
  | "connect"
  | "timeout"
  | "tls"
  | "reset"
  | "protocol"
  | "invalid-url";

/** A failed outgoing connection or request. `message` names the host, never the blocked address behind it. */
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
const LOCAL_CODE = /^(EMFILE|ENFILE|ENOBUFS|ENOMEM)$/;
const TIMEOUT_CODE = /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/;
const INVALID_HTTP = [errors.HTTPParserError, errors.ResponseContentLengthMismatchError];
/** undici takes the 100 for the end of the connection: the response behind it can't be read. */
const UNASKED_CONTINUE = "bad response";
/** undici fails an assertion if a server switches protocols without being asked to. */
const UNEXPECTED_UPGRADE = "ERR_ASSERTION";

/** Translates any error of a socket or of undici. An error that fits no other code becomes `reset`. */
export function toEgressError(error: unknown, host: string): EgressError {
  if (error instanceof EgressError) return error;
  const given = error as { code?: string; message?: string; reason?: string };
  const { code = "", message = String(error) } = given;
  if (TLS_CODE.test(code)) {
    // OpenSSL's message contains locations in its source code; its `reason` is the readable part.
    return new EgressError("tls", `TLS with ${host} failed: ${given.reason ?? message}`, error);
  }
  if (LOCAL_CODE.test(code)) return new EgressError("local", `no connection could be opened: ${code}`, error);
  if (CONNECT_CODE.test(code))
    return new EgressError("connect", `could not connect to ${host}: ${code}`, error);
  if (TIMEOUT_CODE.test(code)) return new EgressError("timeout", `${host} did not respond in time`, error);
  if (error instanceof errors.HeadersOverflowError) {
    return new EgressError("protocol", `${host} responded with more than 16 KB of headers`, error);
  }
  if (code === "UND_ERR_SOCKET" && message === UNASKED_CONTINUE) {
    return new EgressError(
      "protocol",
      `${host} sent 100 Continue, which was not asked for, before its response`,
      error,
    );
  }
  if (code === UNEXPECTED_UPGRADE || INVALID_HTTP.some(kind => error instanceof kind)) {
    return new EgressError("protocol", `${host} did not respond with valid HTTP`, error);
  }
  return new EgressError("reset", `the connection to ${host} ended early: ${code || message}`, error);
}
