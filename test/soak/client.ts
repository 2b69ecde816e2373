import { randomUUID } from "node:crypto";
import { Api, type RequestOptions } from "../support/api.ts";

/** Longest time for a request to be accepted: a request whose process was killed blocks its key for a minute. */
const INSIST_MS = 180_000;
const AGAIN_MS = 300;

/** A client of one account that asks either web process, and asks again until it gets an ordinary response. */
export class Client {
  readonly userId: string;
  readonly apiKey: string;
  readonly #apis: Api[];
  #asked = 0;

  constructor(webs: string[], { id, api_key }: { id: string; api_key: string }) {
    this.userId = id;
    this.apiKey = api_key;
    this.#apis = webs.map(web => new Api(`${web}/v1`, api_key));
  }

  /** Returns the `data` of the response. Throws if it is rejected. */
  // biome-ignore lint/suspicious/noExplicitAny: each caller knows the shape
  async insist<Body = any>(method: string, path: string, options: RequestOptions = {}): Promise<Body> {
    const endsAt = Date.now() + INSIST_MS;
    const headers: Record<string, string> = method === "POST" ? { "idempotency-key": randomUUID() } : {};
    let last = "";
    for (let tries = 0; Date.now() < endsAt; tries++) {
      const response = await this.#api()
        .request(method, path, { ...options, headers })
        .catch((error: Error) => error);
      if (response instanceof Error) last = response.message;
      else if (response.status < 300) return response.body?.data ?? response.body;
      else if (method === "DELETE" && response.status === 404 && tries > 0) return undefined as Body;
      else {
        last = `${response.status} ${response.text}`;
        if (response.status < 500 && response.status !== 409 && response.status !== 429) break;
      }
      await new Promise(resolve => setTimeout(resolve, AGAIN_MS));
    }
    throw new Error(`${method} ${path}: ${last}`);
  }

  #api(): Api {
    this.#asked += 1;
    return this.#apis[this.#asked % this.#apis.length] as Api;
  }
}
