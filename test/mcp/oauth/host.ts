import { createHash, randomBytes } from "node:crypto";
import { Visitor } from "../../accounts/openid-connect/visitor.ts";
import { BrowserApi, signInWith } from "../../accounts/sessions/browser.ts";
import type { Api } from "../../support/api.ts";

/** Where the hosts of these tests want codes; nothing listens there, as the browser of a test goes no further. */
export const REDIRECT = "http://127.0.0.1:9/callback";

export interface Tokens {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  scope: string;
  token_type: string;
}

export interface Replied {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: each test expects a different body
  body: any;
}

async function repliedOf(response: Response): Promise<Replied> {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text ? JSON.parse(text) : text,
  };
}

const newVerifier = () => randomBytes(32).toString("base64url");
const challengeOf = (verifier: string) => createHash("sha256").update(verifier).digest("base64url");

let hosts = 0;

/**
 * An agent's host that signs in by OAuth, written from the specifications: it does what a test asks for, also what is wrong. Where the system
 * trusts a proxy, it has an address of its own.
 */
export class Host {
  readonly origin: string;
  readonly #address = `192.0.2.${++hosts}`;
  clientId = "";
  verifier = newVerifier();

  constructor(api: Api) {
    this.origin = new URL(api.baseUrl).origin;
  }

  async register(more: object = {}): Promise<Replied> {
    const replied = await this.send("/oauth/register", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_name: "Test host", redirect_uris: [REDIRECT], ...more }),
    });
    if (replied.status === 201) this.clientId = replied.body.client_id;
    return replied;
  }

  /** Returns the address to which the host sends the user's browser; null leaves a parameter out. */
  authorizeUrl(changes: Record<string, string | null> = {}): URL {
    const url = new URL("/oauth/authorize", this.origin);
    const params = {
      client_id: this.clientId,
      response_type: "code",
      redirect_uri: REDIRECT,
      state: "a state",
      code_challenge: challengeOf(this.verifier),
      code_challenge_method: "S256",
      resource: `${this.origin}/mcp`,
      ...changes,
    };
    for (const [name, value] of Object.entries(params)) if (value !== null) url.searchParams.set(name, value);
    return url;
  }

  /** Exchanges a code, or a refresh token, with `grant_type` and the like changed. */
  token(params: Record<string, string>): Promise<Replied> {
    return this.form("/oauth/token", { client_id: this.clientId, ...params });
  }

  exchange(code: string, changes: Record<string, string> = {}): Promise<Replied> {
    return this.token({
      ...{ grant_type: "authorization_code", code, redirect_uri: REDIRECT, code_verifier: this.verifier },
      ...changes,
    });
  }

  refresh(refresh_token: string, changes: Record<string, string> = {}): Promise<Replied> {
    return this.token({ grant_type: "refresh_token", refresh_token, ...changes });
  }

  revoke(token: string): Promise<Replied> {
    return this.form("/oauth/revoke", { client_id: this.clientId, token });
  }

  form(path: string, params: Record<string, string>): Promise<Replied> {
    return this.send(path, { method: "POST", body: new URLSearchParams(params) });
  }

  async send(path: string, init: RequestInit = {}): Promise<Replied> {
    const headers = { "x-forwarded-for": this.#address, ...(init.headers as Record<string, string>) };
    return await repliedOf(await fetch(new URL(path, this.origin), { redirect: "manual", ...init, headers }));
  }
}

/** A browser in which a user is signed in to the dashboard. */
export class Person {
  readonly visitor: Visitor;
  readonly #api: BrowserApi;

  private constructor(api: Api, cookie: string) {
    this.visitor = new Visitor(api.baseUrl);
    this.#api = new BrowserApi(api.baseUrl, cookie);
  }

  static async signedIn(api: Api): Promise<Person> {
    return new Person(api, await signInWith(api));
  }

  /** Opens the address of a host; returns the id of the request that the dashboard's page is opened for. */
  async begin(url: URL): Promise<string> {
    const response = await this.visitor.request(url);
    const location = new URL(response.headers.get("location") ?? "about:blank", url);
    const request = location.searchParams.get("request");
    if (request === null) throw new Error(`${response.status}: ${location.href} ${await response.text()}`);
    return request;
  }

  /** What the dashboard's page asks. */
  ask(request: string) {
    return this.#api.request("GET", "/agent_consents", { query: { request } });
  }

  /** What its form sends. */
  decide(request: string, body: object, headers: Record<string, string> = {}) {
    const origin = new URL(this.#api.baseUrl).origin;
    return this.#api.request("POST", "/agent_consents", {
      body: { request, ...body },
      headers: { origin, ...headers },
    });
  }

  /** Goes where the form leads, and returns where the browser is sent from there. */
  async goOn(url: string): Promise<URL> {
    const response = await this.visitor.request(url);
    const location = response.headers.get("location");
    if (location === null) throw new Error(`${response.status}: ${await response.text()}`);
    return new URL(location, url);
  }

  /** Lets a host in, and returns the address that it is sent with the code. */
  async letIn(url: URL, access?: "read" | "full"): Promise<URL> {
    const request = await this.begin(url);
    const { status, body, text } = await this.decide(request, { allow: true, ...(access && { access }) });
    if (status !== 200) throw new Error(`${status}: ${text}`);
    return await this.goOn(body.data.url);
  }
}

/** Lets a new host in as this user, and returns it with its tokens. */
export async function connect(
  api: Api,
  access?: "read" | "full",
): Promise<{ host: Host; tokens: Tokens; person: Person }> {
  const host = new Host(api);
  await host.register();
  const person = await Person.signedIn(api);
  const returned = await person.letIn(host.authorizeUrl(), access);
  const { status, body } = await host.exchange(returned.searchParams.get("code") ?? "");
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return { host, tokens: body, person };
}
