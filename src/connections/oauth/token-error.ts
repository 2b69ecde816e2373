import { type OpenIdFault, toOpenIdError } from "../../openid/openid-error.ts";

/** Why an app gave no tokens. `message` has the app's error code and nothing else of what it sent. */
export class TokenError extends Error {
  readonly fault: OpenIdFault;
  /** The app's error code; one of ours if it gave none. */
  readonly code: string;
  /** False if it is not known whether the app received the request and did what it asks for. */
  readonly hasResponded: boolean;

  constructor(fault: OpenIdFault, code: string, message: string, hasResponded: boolean) {
    super(message);
    this.name = "TokenError";
    this.fault = fault;
    this.code = code;
    this.hasResponded = hasResponded;
  }
}

/** Codes with which an app says that a refresh token is no longer valid: the standard's, and those of some apps. */
const ENDED = new Set([
  "invalid_grant",
  "bad_refresh_token",
  "invalid_refresh_token",
  "token_expired",
  "token_revoked",
  "access_denied",
  "consent_required",
  "interaction_required",
]);

/** Returns true if no repetition can help, only a new consent. */
export const isFinal = ({ code }: TokenError): boolean => ENDED.has(code);

/** Translates what openid-client throws. */
export function toTokenError(error: unknown): TokenError {
  const { fault, message, providerCode } = toOpenIdError(error);
  const code = providerCode ?? (fault === "provider-away" ? "app-away" : "app-error");
  return new TokenError(fault, code, message.replace("the provider", "the app"), providerCode !== undefined);
}
