import { decode, withoutMark } from "../http/body.ts";
import { collect, parseBody } from "./parse-body.ts";

/** The event that `run` receives for an HTTP request (docs/component-api.md#events-given-to-run). */
export interface HttpEvent {
  method: string;
  path: string;
  query: Record<string, string | string[]>;
  headers: Record<string, string>;
  /** Decoded by the charset of its type. */
  bodyRaw: string;
  /** The body's exact bytes; only if they are not those of `bodyRaw` as UTF-8. */
  bodyBase64?: string;
  body: unknown;
  url: string;
  client_ip: string;
}

export interface RawRequest {
  method: string;
  /** The part of the path after the endpoint, starting with `/`. */
  path: string;
  search: URLSearchParams;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  url: string;
  clientIp: string;
}

/** What concerns one connection and not the request (RFC 9110, 7.6.1), beside what `Connection` names. */
const OF_CONNECTION = [
  "connection",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/**
 * Returns the event of a request: headers in lower case, the text of the body, and the body parsed according to its content
 * type. Throws `invalid` for JSON that is nested too deeply, and `too-large` for a form with too many parts
 * (docs/limits.md): nothing may be accepted here that could not be stored and passed on later.
 */
export async function httpEvent(request: RawRequest): Promise<HttpEvent> {
  const type = String(request.headers["content-type"] ?? "");
  const { text: bodyRaw, isExact } = decode(request.body, type);
  return {
    method: request.method,
    path: request.path,
    query: collect([...request.search]),
    headers: headersOf(request.headers),
    bodyRaw,
    ...(!isExact && { bodyBase64: request.body.toString("base64") }),
    body: await parseBody(type, request.body, withoutMark(bodyRaw)),
    url: request.url,
    client_ip: request.clientIp,
  };
}

function headersOf(received: RawRequest["headers"]): Record<string, string> {
  const named = String(received.connection ?? "")
    .toLowerCase()
    .split(",");
  const ofConnection = new Set([...OF_CONNECTION, ...named.map(name => name.trim())]);
  const headers: [string, string][] = [];
  for (const [receivedName, value] of Object.entries(received)) {
    const name = receivedName.toLowerCase();
    if (value === undefined || ofConnection.has(name)) continue;
    headers.push([name, Array.isArray(value) ? value.join(", ") : value]);
  }
  return Object.fromEntries(headers);
}
