import { cookieOf } from "../sessions/browser.ts";

interface SignInOptions {
  /** The page that is shown afterwards. */
  returnTo?: string;
  /** Does not consent. */
  stop?: boolean;
  /** Changes the address of the provider before the browser goes there. */
  change?: (url: URL) => void;
}

/** A browser without scripts: keeps cookies by host and name, and follows redirects one by one. */
export class Visitor {
  readonly #cookies = new Map<string, Map<string, string>>();
  readonly #baseUrl: string;
  readonly #fetch: typeof fetch;

  /** `baseUrl` is that of the API; `fetchWith` may trust other certificates. */
  constructor(baseUrl: string, fetchWith: typeof fetch = fetch) {
    this.#baseUrl = baseUrl;
    this.#fetch = fetchWith;
  }

  /** Sends a request with the cookies of its host, and keeps those of the response. */
  async request(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...(cookie && { cookie }), ...(init.headers as Record<string, string>) };
    const response = await this.#fetch(url, { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [name = "", value = ""] = (line.split(";")[0] ?? "").split(/=(.*)/s);
      if (value === "" || /max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Begins to sign in; returns the response. */
  begin(body: object = {}, headers: Record<string, string> = {}): Promise<Response> {
    return this.request(`${this.#baseUrl}/openid_sign_ins`, {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin", ...headers },
      body: JSON.stringify(body),
    });
  }

  /** Begins, and signs in at the provider's page; returns the address to which it sends the browser back. */
  async signInThere(
    login: string,
    { returnTo, stop = false, change = () => {} }: SignInOptions = {},
  ): Promise<URL> {
    const begun = await this.begin(returnTo === undefined ? {} : { return_to: returnTo });
    const text = await begun.text();
    if (begun.status !== 201) throw new Error(`${begun.status}: ${text}`);
    const url = new URL(JSON.parse(text).data.url);
    change(url);
    return await this.follow(url.href, { login, ...(stop && { stop: "1" }) });
  }

  /** Follows an address of the provider until it sends the browser to another host. */
  async follow(start: string, form: Record<string, string>): Promise<URL> {
    let url = new URL(start);
    const { host } = url;
    while (url.host === host) {
      let response = await this.request(url);
      if (response.status === 200) {
        response = await this.request(url, { method: "POST", body: new URLSearchParams(form) });
      }
      const location = response.headers.get("location");
      if (location === null) throw new Error(`${url.pathname}: ${response.status} ${await response.text()}`);
      url = new URL(location, url);
    }
    return url;
  }

  /** Signs in from beginning to end; returns the response to the return. */
  async signIn(login: string, options: SignInOptions = {}): Promise<Response> {
    return await this.request(await this.signInThere(login, options));
  }

  /** Returns the user of this browser's session; null without one. */
  async me(): Promise<{ id: string; email: string; username: string; orgs: { id: string }[] } | null> {
    const response = await this.request(`${this.#baseUrl}/users/me`, {
      headers: { "sec-fetch-site": "same-origin" },
    });
    const body = (await response.json()) as { data: never };
    return response.status === 200 ? body.data : null;
  }

  /** Returns the cookies that it keeps for the server, as a browser sends them. */
  cookies(): string {
    const jar = this.#cookies.get(new URL(this.#baseUrl).host) ?? [];
    return [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
  }
}

/** Returns the name of the problem with which a return ends at the sign-in page; throws for any other response. */
export function problemOf(response: Response): string {
  const location = new URL(response.headers.get("location") ?? "http://none.invalid");
  const problem = location.searchParams.get("problem");
  if (response.status !== 303 || location.pathname !== "/dashboard/sign-in" || problem === null) {
    throw new Error(`not a problem: ${response.status} ${location.href} ${cookieOf(response)}`);
  }
  return problem;
}
