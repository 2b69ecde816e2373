/** The event that `run` receives for an HTTP request (docs/component-api.md#events-given-to-run). */
export interface HttpEvent {
  method: string;
  path: string;
  query: Record<string, string | string[]>;
  headers: Record<string, string>;
  bodyRaw: string;
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

/** Headers that proxies set, not the sender. */
const PROXY_HEADER =
  /^(x-forwarded-.*|forwarded|x-real-ip|x-request-id|x-request-start|via|connection|connect-time|total-route-time)$/;

/**
 * Returns the event of a request: headers in lower case, the exact text of the body, and the body parsed according to
 * its content type.
 */
export async function httpEvent(request: RawRequest): Promise<HttpEvent> {
  const type = String(request.headers["content-type"] ?? "");
  const bodyRaw = request.body.toString("utf8");
  return {
    method: request.method,
    path: request.path,
    query: collect([...request.search]),
    headers: Object.fromEntries(
      Object.entries(request.headers)
        .map(([name, value]) => [name.toLowerCase(), value] as const)
        .filter(([name, value]) => value !== undefined && !PROXY_HEADER.test(name))
        .map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : String(value)]),
    ),
    bodyRaw,
    body: await parseBody(type, request.body, bodyRaw),
    url: request.url,
    client_ip: request.clientIp,
  };
}

async function parseBody(type: string, body: Buffer, text: string): Promise<unknown> {
  // The media type is case-insensitive; its parameters, such as a form's boundary, may not be.
  const name = type.toLowerCase();
  if (body.length === 0) return name.includes("json") ? null : "";
  // A body that does not match its content type stays a string, for the component to decide about.
  try {
    if (/\bjson\b|\+json/.test(name)) return JSON.parse(text);
    if (name.startsWith("application/x-www-form-urlencoded")) return collect([...new URLSearchParams(text)]);
    if (name.startsWith("multipart/form-data")) return collect(await readMultipart(type, body));
  } catch {
    return text;
  }
  return text;
}

/** Returns the fields of a form; a file is an object of its name, type and text. */
async function readMultipart(type: string, body: Buffer): Promise<[string, unknown][]> {
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  return Promise.all(
    [...form].map(
      async ([name, value]): Promise<[string, unknown]> => [
        name,
        typeof value === "string"
          ? value
          : { filename: value.name, type: value.type, content: await value.text() },
      ],
    ),
  );
}

/** Converts pairs to an object. A name that occurs once has its value, a name that occurs more often an array. */
function collect<T>(pairs: [string, T][]): Record<string, T | T[]> {
  const lists = new Map<string, T[]>();
  for (const [name, value] of pairs) {
    const list = lists.get(name);
    if (list) list.push(value);
    else lists.set(name, [value]);
  }
  return Object.fromEntries(
    [...lists].map(([name, values]) => [name, values.length === 1 ? (values[0] as T) : values]),
  );
}
