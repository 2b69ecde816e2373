import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Provider as OidcProvider } from "oidc-provider";
import { quietly } from "./quietly.ts";

/** What the provider says about somebody who signs in; `sub` is the name in its form unless given. */
export type PersonClaims = Record<string, unknown>;

/** A real OpenID provider (the package oidc-provider) on this machine, with a page that asks who signs in. */
export interface TestProvider {
  issuer: string;
  /** Settings with which a system signs in with it. */
  env: Record<string, string>;
  /** By the name that is typed into the form. */
  people: Map<string, PersonClaims>;
  /** Every request that it got, as method and path. */
  requests: string[];
  /** The tokens that it issued. */
  issued: string[];
  /** Responds to no request for tokens until the returned function is called. */
  holdTokens(): () => void;
  /** Registers where it sends browsers back to. */
  returnTo(publicUrl: string): Promise<void>;
  /** Signs with a new key from now on; the old one is gone. */
  rotateKeys(): Promise<void>;
  /** Shows keys with which it did not sign, while it is true. */
  showsForeignKeys: boolean;
  /** No longer accepts connections, until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

export const CLIENT = { id: "headwater", secret: "a secret of the test: + / & %" };

const newKey = () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const kid = randomBytes(6).toString("hex");
  return { ...privateKey.export({ format: "jwk" }), kid, alg: "ES256", use: "sig" };
};

const FORM = `<!doctype html><title>Provider</title><link rel="icon" href="data:,"><form method="post">
  <label>Name <input name="login" autofocus></label> <button>Continue</button>
  <button name="stop" value="1">Stop</button></form>`;

const signOutForm = (
  form: string,
) => `<!doctype html><title>Provider</title><link rel="icon" href="data:,">${form}
  <button form="op.logoutForm" name="logout" value="yes">Sign out there</button>
  <button form="op.logoutForm">Stay</button>`;

interface ProviderOptions {
  /** For a client without a secret. */
  isPublic?: boolean;
  /** False: it has no address to sign out at. */
  signsOut?: boolean;
  /** Serves https, with this key and certificate. */
  tls?: { key: string; cert: string };
}

/** Starts the provider on a free port. */
export async function startOpenIdProvider({
  isPublic = false,
  signsOut = true,
  tls,
}: ProviderOptions = {}): Promise<TestProvider> {
  const people = new Map<string, PersonClaims>();
  const requests: string[] = [];
  const issued: string[] = [];
  let publicUrls: string[] = [];
  let signingKey = newKey();
  let tokensHeld = Promise.resolve();
  const { Provider } = await quietly(() => import("oidc-provider"));
  let provider: OidcProvider;
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    requests.push(`${request.method} ${request.url?.split("?")[0]}`);
    void serve(request, response);
  };
  const server = tls ? createTlsServer(tls, handle) : createServer(handle);
  const listen = (port: number) =>
    new Promise<void>(resolve => server.listen(port, "127.0.0.1", () => resolve()));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const issuer = `${tls ? "https" : "http"}://127.0.0.1:${port}`;

  const open = () =>
    quietly(
      async () =>
        new Provider(issuer, {
          clients: [
            {
              client_id: CLIENT.id,
              ...(isPublic
                ? { token_endpoint_auth_method: "none" as const }
                : { client_secret: CLIENT.secret }),
              redirect_uris: publicUrls.map(url => `${url}/dashboard/sign-in/return`),
              post_logout_redirect_uris: publicUrls.map(url => `${url}/dashboard/sign-in`),
              id_token_signed_response_alg: "ES256",
            },
          ],
          jwks: { keys: [signingKey] } as never,
          cookies: { keys: ["test"] },
          claims: {
            openid: ["sub"],
            email: ["email", "email_verified"],
            profile: ["name"],
            groups: ["groups"],
          },
          scopes: ["openid", "email", "profile", "groups"],
          features: {
            devInteractions: { enabled: false },
            rpInitiatedLogout: {
              enabled: signsOut,
              logoutSource: (ctx, form) => {
                ctx.body = signOutForm(form);
              },
            },
          },
          interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
          pkce: { required: () => true },
          findAccount: (_ctx, id) => ({
            accountId: id,
            claims: async () => ({ sub: id, ...people.get(id) }),
          }),
          ttl: {
            AccessToken: 600,
            AuthorizationCode: 60,
            Grant: 600,
            IdToken: 600,
            Interaction: 600,
            Session: 600,
          },
          // Everybody consents.
          loadExistingGrant: async ctx => {
            const { client, session, provider: own } = ctx.oidc;
            const grant = new own.Grant({
              clientId: client?.clientId ?? "",
              accountId: session?.accountId ?? "",
            });
            grant.addOIDCScope("openid email profile groups");
            await grant.save();
            return grant;
          },
        }),
    );

  async function create(): Promise<OidcProvider> {
    const opened = await open();
    opened.on("grant.success", ({ body }) => {
      const { access_token, id_token } = body as { access_token: string; id_token: string };
      issued.push(access_token, id_token);
    });
    return opened;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === "/jwks" && started.showsForeignKeys) {
      const { d: _, ...publicKey } = newKey();
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ keys: [{ ...publicKey, kid: signingKey.kid }] }));
      return;
    }
    if (request.url === "/token") await tokensHeld;
    if (!request.url?.startsWith("/interaction/")) return void provider.callback()(request, response);
    if (request.method !== "POST") {
      response.setHeader("content-type", "text/html");
      response.end(FORM);
      return;
    }
    let text = "";
    for await (const chunk of request) text += chunk;
    const form = new URLSearchParams(text);
    const result = form.has("stop")
      ? { error: "access_denied" }
      : { login: { accountId: form.get("login") ?? "" } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }

  provider = await create();
  const started: TestProvider = {
    issuer,
    env: {
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: CLIENT.id,
      ...(!isPublic && { OIDC_CLIENT_SECRET: CLIENT.secret }),
      OIDC_ALLOW: "@acme.test",
      OIDC_EGRESS_ALLOW: "127.0.0.1",
    },
    people,
    requests,
    issued,
    showsForeignKeys: false,
    holdTokens() {
      let release = () => {};
      tokensHeld = new Promise(resolve => {
        release = resolve;
      });
      return () => release();
    },
    async returnTo(publicUrl) {
      publicUrls = [publicUrl];
      provider = await create();
    },
    async rotateKeys() {
      signingKey = newKey();
      provider = await create();
    },
    async stop() {
      server.closeAllConnections();
      if (server.listening) await new Promise(resolve => server.close(resolve));
    },
    start: () => listen(port),
  };
  return started;
}
