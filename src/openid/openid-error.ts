import { EgressError } from "../egress/egress-error.ts";

/** Why a sign-in with a provider failed, as far as the provider is concerned. */
export type OpenIdFault =
  /** The person did not consent. */
  | "cancelled"
  /** The provider can't be reached, or does not respond as one. */
  | "provider-away"
  /** The provider does not accept us, or our settings of it are wrong. */
  | "provider-error"
  /** What came back proves nothing: a wrong code, nonce, signature, issuer or time. */
  | "not-proven";

/**
 * A sign-in that failed. `message` is for the operator's log: it has neither tokens, codes nor anything else that the
 * provider or the browser sent, but the codes of errors. There is no `cause`, because that of a library has all of it.
 */
export class OpenIdError extends Error {
  readonly fault: OpenIdFault;
  /** The error code of the provider; undefined if it did not respond with one that the standards know. */
  readonly providerCode: string | undefined;

  constructor(fault: OpenIdFault, message: string, providerCode?: string) {
    super(message);
    this.name = "OpenIdError";
    this.fault = fault;
    this.providerCode = providerCode;
  }
}

/** Codes that only say that the provider has trouble of its own (RFC 6749, section 4.1.2.1). */
const AWAY = new Set(["server_error", "temporarily_unavailable"]);
/** Codes of openid-client for a provider that did not respond as one. */
const NO_RESPONSE = new Set([
  "OAUTH_TIMEOUT",
  "OAUTH_ABORT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_PARSE_ERROR",
]);

/** An error code as the standards know it; anything else could be any text. */
const codeOf = (text: string | undefined): string | undefined =>
  text !== undefined && /^[\w.-]{1,64}$/.test(text) ? text : undefined;
const UNKNOWN = "an unknown error";

/** What openid-client throws; told apart by name, because the library is loaded at its first use. */
interface LibraryError {
  name: string;
  message: string;
  code?: string;
  /** What the provider said, of the two kinds of error that come from it. */
  error?: string;
}

/** Translates what openid-client throws. */
export function toOpenIdError(error: unknown): OpenIdError {
  if (error instanceof OpenIdError) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  const egress = [error, cause].find(one => one instanceof EgressError);
  if (egress) return new OpenIdError("provider-away", egress.message);
  const { name, message, code = "no code", error: told } = error as LibraryError;
  if (name === "AuthorizationResponseError") return ofRedirect(codeOf(told));
  if (name === "ResponseBodyError") return ofResponse(codeOf(told));
  if (name === "WWWAuthenticateChallengeError") return ofResponse(codeOf(challengeOf(cause)));
  if (NO_RESPONSE.has(code))
    return new OpenIdError("provider-away", `the provider did not respond as one: ${code}`);
  return new OpenIdError(
    "not-proven",
    name === "ClientError" ? `${message} (${code})` : "an unexpected error",
  );
}

/** Returns the error of a 401, which is in its header. */
function challengeOf(cause: unknown): string | undefined {
  const [challenge] = Array.isArray(cause) ? (cause as { parameters?: { error?: string } }[]) : [];
  return challenge?.parameters?.error;
}

const faultOf = (code: string | undefined): OpenIdFault =>
  code !== undefined && AWAY.has(code) ? "provider-away" : "provider-error";

function ofRedirect(code: string | undefined): OpenIdError {
  if (code === "access_denied") return new OpenIdError("cancelled", code, code);
  return new OpenIdError(faultOf(code), `the provider sent back ${code ?? UNKNOWN}`, code);
}

function ofResponse(code: string | undefined): OpenIdError {
  const fault = code === "invalid_grant" ? "not-proven" : faultOf(code);
  return new OpenIdError(fault, `the provider responded with ${code ?? UNKNOWN}`, code);
}
