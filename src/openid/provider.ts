import type { ClientAuth, Configuration, CustomFetch, ServerMetadata } from "openid-client";
import type { Egress } from "../egress/agent.ts";
import { fetchThrough } from "../egress/fetch.ts";
import { isLoopback } from "../lib/hosts.ts";
import { cachedFor, loadLater } from "../lib/lazy.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { OpenIdError, toOpenIdError } from "./openid-error.ts";

// 9 MB, for installations that have a provider only.
const library = loadLater<typeof import("openid-client")>("openid-client", import.meta.url);

export interface OpenIdSettings {
  issuer: string;
  clientId: string;
  /** Undefined for a public client, which proves itself by PKCE alone. */
  clientSecret: string | undefined;
  /** Separated by blanks. */
  scopes: string;
}

/** What a sign-in must prove when the browser returns; only that browser and this server know it. */
export interface Challenge {
  state: string;
  nonce: string;
  verifier: string;
}

/** Who signed in, as the provider's signed ID token and its userinfo endpoint say. */
export interface Claims {
  issuer: string;
  subject: string;
  [claim: string]: unknown;
}

const TIMEOUT_MS = 10_000;
/** Discovery documents and sets of keys take a few KB, tokens with hundreds of groups some 100 KB. */
const MAX_RESPONSE_BYTES = 512 * 1024;
/** How long a discovery document is used. */
const METADATA_MS = 10 * 60_000;

/**
 * Signs people in with an OpenID provider: authorization code flow with PKCE, state and nonce
 * (docs/decisions/0028-openid-connect.md). Nothing is requested before the first sign-in, and a provider that is away is
 * asked again at the next one. All requests pass the egress guard. Throws OpenIdError.
 */
export class OpenIdProvider {
  readonly #settings: OpenIdSettings;
  readonly #clock: () => number;
  readonly #fetch: CustomFetch;
  readonly #metadata = cachedFor(METADATA_MS, () => this.#discover());
  #finishing = 0;

  constructor(settings: OpenIdSettings, { egress, clock }: { egress: Egress; clock: () => number }) {
    this.#settings = settings;
    this.#clock = clock;
    this.#fetch = fetchThrough(egress, { timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_RESPONSE_BYTES });
  }

  /** Returns the provider's address to which the browser goes, and what its return must match. */
  async begin(redirectUri: string): Promise<{ url: string; challenge: Challenge }> {
    const client = library();
    try {
      const challenge = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(await this.#configuration(), {
        redirect_uri: redirectUri,
        scope: this.#settings.scopes,
        state: challenge.state,
        nonce: challenge.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(challenge.verifier),
        code_challenge_method: "S256",
      });
      return { url: this.#checkAddress(url).href, challenge };
    } catch (error) {
      throw toOpenIdError(error);
    }
  }

  /**
   * Returns the provider's address at which the browser signs out there too, and from which the provider sends it to
   * `returnTo` with the `state` of the address; null for a provider without one. No ID token is named, because none is kept:
   * the provider asks the person whether to sign out.
   */
  async signOutUrl(returnTo: string): Promise<string | null> {
    const client = library();
    try {
      const configuration = await this.#configuration();
      if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
      const url = client.buildEndSessionUrl(configuration, {
        post_logout_redirect_uri: returnTo,
        state: client.randomState(),
      });
      return this.#checkAddress(url).href;
    } catch (error) {
      throw toOpenIdError(error);
    }
  }

  /** The browser goes there: not to any other kind of address that a discovery document may name. */
  #checkAddress(url: URL): URL {
    const isLocal = this.#isLocal() && url.protocol === "http:" && isLoopback(url.hostname);
    if (url.protocol === "https:" || isLocal) return url;
    throw new OpenIdError("provider-error", "its address is not https");
  }

  /** Returns true for an issuer without TLS, which `OIDC_ISSUER` can be on this machine only. */
  #isLocal(): boolean {
    return this.#settings.issuer.startsWith("http:");
  }

  /**
   * Returns who signed in, from the address with which the browser returned. Throws if it does not match the challenge, or
   * the provider does not vouch for it.
   */
  async finish(returned: URL, challenge: Challenge): Promise<Claims> {
    if (this.#finishing >= LIMITS.providerSignIns.value) {
      throw new OpenIdError("provider-away", "too many sign-ins are waiting for the provider");
    }
    this.#finishing += 1;
    try {
      return await this.#claimsOf(returned, challenge);
    } catch (error) {
      throw toOpenIdError(error);
    } finally {
      this.#finishing -= 1;
    }
  }

  async #claimsOf(returned: URL, { state, nonce, verifier }: Challenge): Promise<Claims> {
    const client = library();
    const configuration = await this.#configuration();
    const tokens = await client.authorizationCodeGrant(configuration, returned, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const signed = tokens.claims();
    if (!signed) throw new OpenIdError("not-proven", "there is no ID token");
    const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
    const told = hasUserInfo
      ? await client.fetchUserInfo(configuration, tokens.access_token, signed.sub)
      : {};
    return { ...told, ...signed, issuer: signed.iss, subject: signed.sub };
  }

  /**
   * One for each use, because each has a cache of the provider's keys: so they are read at each sign-in, and a key that the
   * provider has just replaced is known.
   */
  async #configuration(): Promise<Configuration> {
    const client = library();
    const metadata = await this.#metadata();
    const { clientId, clientSecret } = this.#settings;
    const skewS = Math.round((this.#clock() - Date.now()) / 1000);
    const configuration = new client.Configuration(
      metadata,
      clientId,
      { [client.clockSkew]: skewS },
      authenticationOf(clientSecret, metadata.token_endpoint_auth_methods_supported),
    );
    configuration[client.customFetch] = this.#fetch;
    for (const option of this.#options()) option(configuration);
    return configuration;
  }

  async #discover(): Promise<ServerMetadata> {
    const client = library();
    const { issuer, clientId } = this.#settings;
    const discovered = await client.discovery(new URL(issuer), clientId, undefined, client.None(), {
      [client.customFetch]: this.#fetch,
      execute: this.#options(),
    });
    return discovered.serverMetadata();
  }

  /** The signature of each ID token is checked. */
  #options() {
    const client = library();
    return [client.enableNonRepudiationChecks, ...(this.#isLocal() ? [client.allowInsecureRequests] : [])];
  }
}

/** Returns how the client proves its secret: by HTTP Basic, the standard's default, unless the provider does not know it. */
function authenticationOf(secret: string | undefined, methods: string[] = []): ClientAuth {
  const client = library();
  if (secret === undefined) return client.None();
  const isPostOnly = methods.includes("client_secret_post") && !methods.includes("client_secret_basic");
  return isPostOnly ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret);
}
