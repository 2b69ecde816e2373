import type { Configuration } from "openid-client";
import { fetchThrough, type GuardedFetchOptions } from "../../egress/fetch.ts";
import { isObject } from "../../lib/json.ts";
import { loadLater } from "../../lib/lazy.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { App } from "../../models/connection.ts";
import { type OpenIdFault, toOpenIdError } from "../../openid/openid-error.ts";
import type { Outbound, Stores } from "../../platform.ts";

// 9 MB, for installations that have apps only.
const library = loadLater<typeof import("openid-client")>("openid-client", import.meta.url);

/** What an app's token endpoint gave. */
export interface Tokens {
  accessToken: string;
  refreshToken?: string;
  /** Absent: the app names no end. */
  expiresInS?: number;
  scope?: string;
  /** What else it said in texts and numbers, such as the address of an account's own server. */
  others: Record<string, string>;
}

/** What a return from an app must match; never leaves this server, but for the state. */
export interface Challenge {
  state: string;
  verifier: string;
}

const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 64 * 1024;

/** Returns what a consent that begins now must match when it returns. */
export const newChallenge = (): Challenge => ({
  state: library().randomState(),
  verifier: library().randomPKCECodeVerifier(),
});

/** Returns the address at which a person grants an app's access, with PKCE. */
export async function authorizeUrl(
  platform: Stores & Outbound,
  app: App,
  { state, verifier }: Challenge,
  redirectUri: string,
): Promise<string> {
  const client = library();
  return client.buildAuthorizationUrl(configurationOf(platform, app), {
    ...Object.fromEntries(app.authorize_params),
    redirect_uri: redirectUri,
    ...(app.scopes !== "" && { scope: app.scopes }),
    state,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  }).href;
}

/** Returns the tokens for the code with which a browser returned to `returned`. Throws TokenError. */
export async function exchangeCode(
  platform: Stores & Outbound,
  app: App,
  returned: URL,
  { state, verifier }: Challenge,
): Promise<Tokens> {
  const address = new URL(returned);
  // What it says is compared only if the operator has named it.
  if (app.issuer === null) address.searchParams.delete("iss");
  try {
    const granted = await library().authorizationCodeGrant(configurationOf(platform, app), address, {
      expectedState: state,
      pkceCodeVerifier: verifier,
    });
    return tokensOf(granted);
  } catch (error) {
    throw toTokenError(error);
  }
}

/** Returns the tokens for a refresh token. Throws TokenError. */
export async function refreshTokens(
  platform: Stores & Outbound,
  app: App,
  refreshToken: string,
): Promise<Tokens> {
  try {
    return tokensOf(await library().refreshTokenGrant(configurationOf(platform, app), refreshToken));
  } catch (error) {
    throw toTokenError(error);
  }
}

function configurationOf({ egress, secrets }: Stores & Outbound, app: App): Configuration {
  const client = library();
  const { authorize_url, token_url, issuer, client_id, client_secret, token_auth } = app;
  const secret = client_secret === null ? "" : secrets.open(client_secret);
  const authentication = {
    basic: () => client.ClientSecretBasic(secret),
    post: () => client.ClientSecretPost(secret),
    none: () => client.None(),
  }[token_auth];
  const configuration = new client.Configuration(
    {
      issuer: issuer ?? new URL(authorize_url).origin,
      authorization_endpoint: authorize_url,
      token_endpoint: token_url,
      // RFC 9207: a return without it may be that of another server.
      ...(issuer !== null && { authorization_response_iss_parameter_supported: true }),
    },
    client_id,
    {},
    authentication(),
  );
  const send = fetchThrough(egress, { timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_RESPONSE_BYTES });
  configuration[client.customFetch] = async (url, options) =>
    asStandardResponse(await send(url, options as GuardedFetchOptions));
  // The operator may register such addresses on this machine only.
  if (token_url.startsWith("http:") || authorize_url.startsWith("http:")) {
    client.allowInsecureRequests(configuration);
  }
  return configuration;
}

const OWN_NAMES = new Set([
  ...["access_token", "refresh_token", "id_token", "token_type", "expires_in", "scope"],
  ...["oauth_access_token", "ok", "__proto__"],
]);
const MAX_OTHERS = LIMITS.connectionFields.value;
const MAX_OTHER_CHARACTERS = 1024;

function tokensOf(granted: Record<string, unknown>): Tokens {
  const { access_token, refresh_token, expires_in, scope } = granted;
  const others = Object.entries(granted)
    .filter(([name, value]) => !OWN_NAMES.has(name) && ["string", "number"].includes(typeof value))
    .map(([name, value]) => [name, String(value)] as const)
    .filter(([name, value]) => /^\w{1,64}$/.test(name) && value.length <= MAX_OTHER_CHARACTERS)
    .slice(0, MAX_OTHERS);
  return {
    accessToken: String(access_token),
    ...(typeof refresh_token === "string" && { refreshToken: refresh_token }),
    ...(typeof expires_in === "number" && { expiresInS: expires_in }),
    ...(typeof scope === "string" && { scope: scope.slice(0, MAX_OTHER_CHARACTERS) }),
    others: Object.fromEntries(others),
  };
}

/**
 * Returns the response of a token endpoint as RFC 6749 has it (sections 5.1 and 5.2), where widely used apps differ: errors
 * with status 200, forms instead of JSON, other names for a bearer token, null for what is absent. An ID token is left out:
 * it is not used to sign in, so it need not be checked.
 */
export async function asStandardResponse(response: Response): Promise<Response> {
  const text = await response.text();
  const body = parse(text, response.headers.get("content-type") ?? "");
  if (body === null) return new Response(text, { status: response.status, headers: response.headers });
  const { id_token: _, ...said } = body;
  if (typeof said.access_token !== "string" && typeof said.error === "string") {
    return Response.json(said, { status: response.status < 400 ? 400 : response.status });
  }
  const standard = Object.entries({
    ...said,
    token_type: "bearer",
    expires_in: secondsOf(said.expires_in),
    refresh_token: typeof said.refresh_token === "string" ? said.refresh_token : undefined,
    scope: Array.isArray(said.scope) ? said.scope.join(" ") : said.scope,
  }).filter(([, value]) => value !== undefined && value !== null);
  return Response.json(Object.fromEntries(standard), {
    status: response.status === 201 ? 200 : response.status,
  });
}

/** Returns a time that a token may live, in seconds; undefined for what is none. */
function secondsOf(value: unknown): number | undefined {
  const seconds = Number(value);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}

function parse(text: string, type: string): Record<string, unknown> | null {
  if (type.includes("x-www-form-urlencoded")) return Object.fromEntries(new URLSearchParams(text));
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : null;
  } catch {
    return null;
  }
}

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
function toTokenError(error: unknown): TokenError {
  const { fault, message, providerCode } = toOpenIdError(error);
  const code = providerCode ?? (fault === "provider-away" ? "app-away" : "app-error");
  return new TokenError(fault, code, message.replace("the provider", "the app"), providerCode !== undefined);
}
