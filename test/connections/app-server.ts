import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setApp } from "../../src/connections/apps/apps.ts";
import {
  askForConnection,
  beginConsent,
  finishConsent,
  RETURN_PATH,
} from "../../src/connections/consent/consent.ts";
import { newToken } from "../../src/lib/ids.ts";
import type { Platform } from "../../src/platform.ts";
import { quietly } from "../support/quietly.ts";

export const APP_CLIENT = { id: "headwater", secret: "a secret of the test: + / & %" };

/** The path of what needs a valid access token: 200 or 401. */
export const RESOURCE = "/resource";

/** How long access tokens of the server live. */
export const TOKEN_S = 3600;

/** A real OAuth server (the package oidc-provider) on this machine, which rotates refresh tokens and needs PKCE. */
export interface AppServer {
  url: string;
  /** The requests to its token endpoint, each by its grant type, with the error code of those it rejected. */
  grants: string[];
  /** Everything secret that it gave out. */
  issued: string[];
  /** Responds to no request for tokens until the returned function is called. */
  holdTokens(): () => void;
  /** How many requests for tokens it has received and not looked at yet. */
  held: number;
  /** Is away for requests for tokens, while it is true. */
  isAway: boolean;
  /** What responds to requests for tokens in place of it, while there is something. */
  impostor: ((request: IncomingMessage, response: ServerResponse) => void) | null;
  /** Ends the access tokens that it gave out, before their time; refresh tokens stay valid. */
  revokeAccess(): Promise<void>;
  /** Ends every grant, as a person does who takes the access back. */
  revokeAll(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the server on a free port; `publicUrl` is where it sends browsers back to. */
export async function startAppServer(publicUrl: string): Promise<AppServer> {
  const { Provider } = await quietly(() => import("oidc-provider"));
  const grants: string[] = [];
  const issued: string[] = [];
  const grantIds = new Set<string>();
  let tokensHeld = Promise.resolve();
  const handle = (request: IncomingMessage, response: ServerResponse) => void serve(request, response);
  const server = createServer(handle);
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", () => resolve()));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = await quietly(
    async () =>
      new Provider(url, {
        clients: [
          {
            client_id: APP_CLIENT.id,
            client_secret: APP_CLIENT.secret,
            grant_types: ["authorization_code", "refresh_token"],
            redirect_uris: [publicUrl + RETURN_PATH],
          },
        ],
        cookies: { keys: ["test"] },
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
        pkce: { required: () => true },
        scopes: ["read", "offline_access"],
        rotateRefreshToken: () => true,
        issueRefreshToken: async () => true,
        findAccount: (_ctx, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
        ttl: {
          AccessToken: TOKEN_S,
          AuthorizationCode: 60,
          Grant: 86_400,
          Interaction: 600,
          RefreshToken: 86_400,
          Session: 600,
        },
        loadExistingGrant: async ctx => {
          const { client, session, provider: own } = ctx.oidc;
          const grant = new own.Grant({
            clientId: client?.clientId ?? "",
            accountId: session?.accountId ?? "",
          });
          grant.addOIDCScope("read offline_access openid");
          grantIds.add(await grant.save());
          return grant;
        },
      }),
  );
  provider.on("grant.success", ({ oidc, body }) => {
    grants.push(String(oidc.params?.grant_type));
    const { access_token, refresh_token } = body as Record<string, string>;
    issued.push(...[access_token, refresh_token].filter(token => token !== undefined));
  });
  provider.on("grant.error", ({ oidc }, error) => {
    grants.push(`${oidc?.params?.grant_type}: ${error.error}`);
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === "/token") {
      started.held += 1;
      await tokensHeld;
      started.held -= 1;
      if (started.isAway) return void response.writeHead(503).end("away");
      if (started.impostor) return started.impostor(request, response);
    }
    if (request.url === RESOURCE) {
      const token = request.headers.authorization?.replace(/^Bearer /, "") ?? "";
      const isValid = (await provider.AccessToken.find(token)) !== undefined;
      return void response.writeHead(isValid ? 200 : 401).end();
    }
    if (!request.url?.startsWith("/interaction/")) return void provider.callback()(request, response);
    const result = request.url.endsWith("/deny")
      ? { error: "access_denied" }
      : { login: { accountId: "somebody" } };
    request.url = request.url.replace(/\/deny$/, "");
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }

  const started: AppServer = {
    url,
    grants,
    issued,
    isAway: false,
    held: 0,
    impostor: null,
    holdTokens() {
      let release = () => {};
      tokensHeld = new Promise(resolve => {
        release = resolve;
      });
      return () => release();
    },
    async revokeAccess() {
      for (const token of issued) await (await provider.AccessToken.find(token))?.destroy();
    },
    async revokeAll() {
      for (const id of grantIds) {
        await provider.RefreshToken.revokeByGrantId(id);
        await provider.AccessToken.revokeByGrantId(id);
        await (await provider.Grant.find(id))?.destroy();
      }
      grantIds.clear();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
  return started;
}

/** Registers the server as the app `demo`. */
export const registerApp = (platform: Platform, { url }: AppServer, slug = "demo") =>
  setApp(platform, {
    slug,
    name: "Demo & Co",
    authorizeUrl: `${url}/auth`,
    tokenUrl: `${url}/token`,
    issuer: url,
    clientId: APP_CLIENT.id,
    clientSecret: APP_CLIENT.secret,
    tokenAuth: "basic",
    scopes: "read offline_access",
    authorizeParams: { login_hint: "somebody" },
  });

/** Connects an account by a real consent, which is forgotten in `grants`. Returns the connection's id. */
export async function connectTo(platform: Platform, server: AppServer, ownerId: string): Promise<string> {
  const { url, connection_id } = await askForConnection(platform, { ownerId, userId: ownerId, app: "demo" });
  const browser = new CookieBrowser();
  const cookie = newToken();
  const away = await beginConsent(platform, url.split("/").at(-1) ?? "", cookie);
  const returned = new URL(await browser.consent(away));
  await finishConsent(platform, returned.searchParams, cookie);
  server.grants.length = 0;
  return connection_id;
}

/** A browser that keeps cookies, and follows no redirects by itself. */
export class CookieBrowser {
  readonly #cookies = new Map<string, Map<string, string>>();

  async request(url: string, options: { method?: string; headers?: Record<string, string> } = {}) {
    const { origin } = new URL(url);
    const own = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, own);
    const response = await fetch(url, {
      redirect: "manual",
      method: options.method ?? "GET",
      headers: { cookie: [...own].map(pair => pair.join("=")).join("; "), ...options.headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") own.delete(name);
      else own.set(name, value);
    }
    const location = response.headers.get("location");
    return {
      status: response.status,
      headers: response.headers,
      location: location === null ? null : new URL(location, url).href,
      text: await response.text(),
    };
  }

  /** Agrees on our page, and returns the app's address to which it is sent. */
  async agree(url: string): Promise<string> {
    const { status, location, text } = await this.request(url, {
      method: "POST",
      headers: { "sec-fetch-site": "same-origin" },
    });
    if (status !== 303 || location === null) throw new Error(`not sent to the app: ${status} ${text}`);
    return location;
  }

  /** Signs in at the app and agrees, or denies, there; returns the address to which it is sent back. */
  async consent(url: string, { deny = false } = {}): Promise<string> {
    let next = url;
    for (let hop = 0; hop < 8; hop += 1) {
      if (new URL(next).pathname === RETURN_PATH) return next;
      const isAsked = new URL(next).pathname.startsWith("/interaction/");
      const { location, text, status } = await this.request(isAsked && deny ? `${next}/deny` : next);
      if (location === null) throw new Error(`the app sent nobody back: ${status} ${text}`);
      next = location;
    }
    throw new Error(`the app goes on asking: ${next}`);
  }
}
