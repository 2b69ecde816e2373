import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import type { Egress } from "../../../egress/agent.ts";
import type { Exchange } from "./case-file.ts";
import { NOT_RECORDED, URL_HEADER } from "./recorded-http.ts";

const TIMEOUT_MS = 30_000;
const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;
/** Headers of a connection, which are not the service's business, and the encoding that would have to be undone. */
const OWN_HEADERS =
  /^(host|connection|keep-alive|content-length|transfer-encoding|accept-encoding|x-recorded-url)$/;
/** What components read of a response besides its body. Others are often secret, or another each time. */
const KEPT_HEADERS = /^(content-type|etag|last-modified|link|location|retry-after|x-ratelimit-[a-z-]+)$/;

/** What a step came to. */
export interface StepExchanges {
  /** Requests for which nothing was recorded, such as `GET https://api.example.com/items`. */
  missing: string[];
  /** Recorded requests that were not made. */
  unused: string[];
  /** What was asked and responded, while recording. */
  recorded: Exchange[];
}

/**
 * The only server that a component under test reaches: it responds as was recorded, or, with an `egress`, as the service does now. A
 * recorded response is used once, in the order of the file among those of the same method and address.
 */
export class Exchanges {
  readonly #egress: Pick<Egress, "request"> | undefined;
  readonly #server: Server;
  #left: Exchange[] = [];
  #step: StepExchanges = { missing: [], unused: [], recorded: [] };

  private constructor(egress: Pick<Egress, "request"> | undefined) {
    this.#egress = egress;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        const what = `${request.method} ${request.headers[URL_HEADER]}`;
        notRecorded(response, `${what} failed: ${(error as Error).message}`);
      });
    });
  }

  /** Opens the server. With `egress`, the service is asked, and what it responds recorded. */
  static async open(egress?: Pick<Egress, "request">): Promise<Exchanges> {
    const exchanges = new Exchanges(egress);
    await once(exchanges.#server.listen(0, "127.0.0.1"), "listening");
    return exchanges;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Begins a step, which has these exchanges. */
  begin(exchanges: readonly Exchange[]): void {
    this.#left = [...exchanges];
    this.#step = { missing: [], unused: [], recorded: [] };
  }

  /** Ends the step. */
  end(): StepExchanges {
    const unused = this.#left.map(({ request: { method = "GET", url } }) => `${method} ${url}`);
    return { ...this.#step, unused: this.#egress ? [] : unused };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", headers } = request;
    const url = String(headers[URL_HEADER] ?? "");
    const body = await buffer(request);
    const exchange = this.#egress
      ? await this.#record(this.#egress, { method, url, headers: headers as Record<string, string>, body })
      : this.#find({ method, url, body });
    if (!exchange) {
      const what = `${method} ${url}`;
      this.#step.missing.push(what);
      notRecorded(response, `${what} is not recorded in this step: headwater component test --record`);
      return;
    }
    const { status, headers: sent = {}, body: json, base64 } = exchange.response;
    const isText = json === undefined || typeof json === "string";
    const bytes =
      base64 === undefined
        ? Buffer.from(isText ? (json ?? "") : JSON.stringify(json))
        : Buffer.from(base64, "base64");
    response.writeHead(status, { ...(!isText && { "content-type": "application/json" }), ...sent });
    response.end(request.method === "HEAD" || status === 204 || status === 304 ? undefined : bytes);
  }

  #find({ method, url, body }: { method: string; url: string; body: Buffer }): Exchange | undefined {
    const given = contentOf(body);
    const at = this.#left.findIndex(
      ({ request }) =>
        (request.method ?? "GET") === method &&
        request.url === url &&
        (request.body === undefined || ("body" in given && isDeepStrictEqual(request.body, given.body))),
    );
    return at === -1 ? undefined : this.#left.splice(at, 1)[0];
  }

  async #record(
    egress: Pick<Egress, "request">,
    asked: { method: string; url: string; headers: Record<string, string>; body: Buffer },
  ): Promise<Exchange> {
    const { method, url, body } = asked;
    const headers = Object.fromEntries(
      Object.entries(asked.headers).filter(([name]) => !OWN_HEADERS.test(name)),
    );
    const responded = await egress.request(url, {
      method,
      headers: { ...headers, "accept-encoding": "identity" },
      ...(body.length > 0 && { body }),
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
    });
    if (responded.truncated)
      throw new Error(`the response has more than ${MAX_RESPONSE_BYTES / 1024 ** 2} MB`);
    const kept = Object.entries(responded.headers).filter(([name]) => KEPT_HEADERS.test(name));
    const exchange: Exchange = {
      request: { method, url, ...(body.length > 0 && isUtf8(body) && contentOf(body)) },
      response: {
        status: responded.status,
        ...(kept.length > 0 && { headers: Object.fromEntries(kept) }),
        ...(responded.body.length > 0 && contentOf(responded.body)),
      },
    };
    this.#step.recorded.push(exchange);
    return exchange;
  }
}

/** Returns what a body says: JSON if it is an object or a list, else a text; `base64` for bytes. */
function contentOf(bytes: Buffer): { body: unknown } | { base64: string } {
  if (!isUtf8(bytes)) return { base64: bytes.toString("base64") };
  const text = bytes.toString("utf8");
  try {
    const parsed: unknown = JSON.parse(text);
    return { body: typeof parsed === "object" && parsed !== null ? parsed : text };
  } catch {
    return { body: text };
  }
}

function notRecorded(response: ServerResponse, message: string): void {
  response.writeHead(NOT_RECORDED, { "content-type": "text/plain" }).end(message);
}
