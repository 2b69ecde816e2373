import { createHash, generateKeyPairSync } from "node:crypto";
import type Koa from "koa";
import type { KoaContextWithOIDC, Provider as OAuthProvider } from "oidc-provider";
import { resourceOf } from "../../accounts/access-tokens.ts";
import { fetchThrough } from "../../egress/fetch.ts";
import { html, TEXT_PAGE_POLICY, textPage } from "../../http/html-page.ts";
import { isSameSecret } from "../../lib/ids.ts";
import { loadLater, openPer } from "../../lib/lazy.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { Users } from "../../models/user.ts";
import type { Outbound, Stores } from "../../platform.ts";
import { oauthLimitsOf } from "./bounds.ts";
import { clientMetadata } from "./client-metadata.ts";
import { CONSENT_PAGE, PATHS, SCOPE } from "./paths.ts";
import { recordsOf } from "./records.ts";

// For installations whose users let an agent's host in.
const library = loadLater<typeof import("oidc-provider")>("oidc-provider", import.meta.url);

const seconds = (limit: { value: number }) => limit.value / 1000;

const FETCH_TIMEOUT_MS = 5000;

/** Returns the proof of a consent, as the request keeps it. */
export const hashOfProof = (proof: string): string => createHash("sha256").update(proof).digest("hex");

/** What a user's consent adds to a request. */
export interface Consent {
  grantId: string;
  /** Only the browser that consented has the proof, and only the one that began the request has its cookie: they must be one. */
  proofHash: string;
}

/**
 * Opens the authorization server for agents' hosts (docs/agents.md#sign-in-with-oauth), at its first use: authorization codes with PKCE
 * for public clients, refresh tokens that are replaced at each use, one resource, and a consent for each authorization. It signs nothing,
 * and keeps what it must in MongoDB.
 */
export const providerOf = openPer(open, ({ redis }: Stores & Outbound) => redis);

function open(platform: Stores & Outbound): OAuthProvider {
  const { Provider, errors, interactionPolicy } = library();
  const { publicUrl } = platform.config;
  const resource = resourceOf(platform);
  const consentOf = ({ oidc }: KoaContextWithOIDC) => oidc.result?.consent as Consent | undefined;
  const policy = interactionPolicy.base();
  policy.clear();
  // Each authorization asks, and of nothing else than the consent: who is signed in to the dashboard gives it.
  policy.add(
    new interactionPolicy.Prompt(
      { name: "consent" },
      new interactionPolicy.Check(
        "consent_missing",
        "the user's consent is missing",
        ctx => consentOf(ctx) === undefined,
      ),
    ),
  );
  const provider = new Provider(publicUrl, {
    adapter: recordsOf(platform, () => new errors.InvalidGrant("it was used already")),
    routes: { authorization: PATHS.authorize, token: PATHS.token, revocation: PATHS.revoke },
    responseTypes: ["code"],
    scopes: [],
    clientAuthMethods: ["none"],
    clientDefaults: { token_endpoint_auth_method: "none", id_token_signed_response_alg: "ES256" },
    pkce: { required: () => true },
    // Signs nothing: there are no ID tokens, and access tokens are looked up.
    jwks: { keys: [signingKey()] },
    cookies: {
      names: {
        session: "headwater-oauth-session",
        interaction: "headwater-oauth-request",
        resume: "headwater-oauth-resume",
      },
      long: { httpOnly: true, sameSite: "lax", path: PATHS.authorize },
      short: { httpOnly: true, sameSite: "lax" },
    },
    ttl: {
      AccessToken: seconds(LIMITS.oauthAccessTokenMs),
      AuthorizationCode: 60,
      Grant: seconds(LIMITS.oauthGrantMs),
      Interaction: seconds(LIMITS.oauthRequestMs),
      RefreshToken: seconds(LIMITS.oauthRefreshTokenMs),
      Session: seconds(LIMITS.oauthRequestMs),
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
      },
      clientIdMetadataDocument: {
        enabled: true,
        ack: "draft-02",
        allowFetch: async ctx => await oauthLimitsOf(platform).mayFetch(ctx),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: async (_ctx, _client, oneOf) => oneOf ?? resource,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_ctx, indicator) => {
          if (!namesResource(indicator, resource)) throw new errors.InvalidTarget();
          return { scope: SCOPE, audience: resource, accessTokenFormat: "opaque" };
        },
      },
    },
    interactions: {
      url: (_ctx, { uid }) => `${CONSENT_PAGE}?request=${uid}`,
      policy,
    },
    loadExistingGrant: async ctx => {
      const consent = consentOf(ctx);
      if (!consent) return undefined;
      const { proof } = ctx.query;
      if (typeof proof !== "string" || !isSameSecret(hashOfProof(proof), consent.proofHash)) {
        throw new errors.AccessDenied(
          "this was begun in another browser than the one in which it was agreed to",
        );
      }
      return await provider.Grant.find(consent.grantId);
    },
    findAccount: async (_ctx, sub) =>
      (await Users(platform.mongo).exists({ _id: sub }))
        ? { accountId: sub, claims: async () => ({ sub }) }
        : undefined,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: () => true,
    expiresWithSession: async () => false,
    revokeGrantPolicy: () => true,
    clientBasedCORS: () => false,
    renderError: async (ctx, { error, error_description: detail }) => {
      ctx.set("content-security-policy", TEXT_PAGE_POLICY);
      ctx.type = "text/html; charset=utf-8";
      ctx.body = textPage(
        "Headwater",
        `<h1>Not connected</h1><p role="alert">${html(`${error}: ${detail}`)}</p>`,
      );
    },
    fetch: fetchDocument(platform),
    fetchResponseBodyLimits: { "client_id metadata document": LIMITS.oauthClientBytes.value },
  });
  const { host, protocol } = new URL(publicUrl);
  // Addresses and cookies are those of PUBLIC_URL, whatever a request says and whether a proxy in front ends TLS.
  Object.defineProperties(provider.request, {
    host: { value: host },
    protocol: { value: protocol.slice(0, -1) },
  });
  (provider as Koa).on("error", error =>
    platform.log.error({ err: error }, "authorization of an agent's host failed"),
  );
  provider.on("server_error", (_ctx, error) =>
    platform.log.error({ err: error }, "authorization of an agent's host failed"),
  );
  return provider;
}

/**
 * Returns the `fetch` of metadata documents, which passes the egress guard. What is left of a document is what is kept of a registration,
 * so that both are clients of one kind.
 */
function fetchDocument(platform: Outbound) {
  const guarded = fetchThrough(platform.egress, {
    timeoutMs: FETCH_TIMEOUT_MS,
    maxResponseBytes: LIMITS.oauthClientBytes.value,
  });
  return async (url: string | URL | Request, { headers, signal }: RequestInit = {}): Promise<Response> => {
    const given = Object.fromEntries(new Headers(headers));
    const response = await guarded(String(url), { method: "GET", headers: given, ...(signal && { signal }) });
    if (response.status !== 200) return response;
    const metadata = clientMetadata(await response.json());
    if (typeof metadata === "string") throw new Error(metadata);
    const cached = response.headers.get("cache-control");
    return Response.json(metadata, { headers: { ...(cached !== null && { "cache-control": cached }) } });
  };
}

function signingKey() {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig" };
}

/** Hosts name the address that a user gave them, which may have an organization in its query. */
function namesResource(indicator: string, resource: string): boolean {
  if (!URL.canParse(indicator)) return false;
  const { origin, pathname, hash, username } = new URL(indicator);
  return hash === "" && username === "" && origin + pathname.replace(/\/$/, "") === resource;
}
