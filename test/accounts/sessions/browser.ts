import { Api, type ApiResponse, type RequestOptions } from "../../support/api.ts";

/** A client that sends a session's cookie, and what browsers add to requests of a page of the same origin. */
export class BrowserApi extends Api {
  readonly #headers: Record<string, string>;

  constructor(baseUrl: string, cookie: string, headers: Record<string, string> = {}) {
    super(baseUrl, "");
    this.#headers = { cookie, "sec-fetch-site": "same-origin", ...headers };
  }

  // biome-ignore lint/suspicious/noExplicitAny: as the client that it extends
  override request<Body = any>(
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<ApiResponse<Body>> {
    return super.request(method, path, { ...options, headers: { ...this.#headers, ...options.headers } });
  }
}

/** Returns the cookie that a response sets, as a browser sends it. */
export const cookieOf = ({ headers }: { headers: Headers }): string =>
  headers.get("set-cookie")?.split(";")[0] ?? "";

/** Signs in with an API key and returns the cookie. */
export async function signInWith(api: Api): Promise<string> {
  const response = await new Api(api.baseUrl, "").request("POST", "/sessions", {
    body: { api_key: api.apiKey },
  });
  if (response.status !== 201) throw new Error(`sign-in returned ${response.status}: ${response.text}`);
  return cookieOf(response);
}
