/** Why a way out failed; closed, so that a caller can decide by it (design.md, "Egress guard"). */
export type EgressErrorCode =
  | "blocked-address"
  | "dns"
  | "connect"
  | "timeout"
  | "tls"
  | "reset"
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

/** Translates whatever a socket or undici threw; what nothing else fits ended the connection early: `reset`. */
export function toEgressError(error: unknown, host: string): EgressError {
  if (error instanceof EgressError) return error;
  const { code = "", message = String(error) } = error as { code?: string; message?: string };
  if (TLS_CODE.test(code)) return new EgressError("tls", `TLS with ${host} failed: ${message}`, error);
  if (CONNECT_CODE.test(code)) return new EgressError("connect", `no connection to ${host}: ${code}`, error);
  if (TIMEOUT_CODE.test(code)) return new EgressError("timeout", `${host} did not answer in time`, error);
  return new EgressError("reset", `connection to ${host} ended early: ${code || message}`, error);
}
