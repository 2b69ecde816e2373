/** What `run` is given for an HTTP request (runtime.md, "Events given to run"). */
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
  /** Behind the endpoint's own part, beginning with `/`. */
  path: string;
  search: URLSearchParams;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  url: string;
  clientIp: string;
}

/** Set by routers on the way, not by the sender. */
const PROXY_HEADER =
  /^(x-forwarded-.*|forwarded|x-real-ip|x-request-id|x-request-start|via|connection|connect-time|total-route-time)$/;

/** The event of a request: lower-case headers, the exact text, and the body parsed by its content type. */
export async function httpEvent(request: RawRequest): Promise<HttpEvent> {
  const type = String(request.headers["content-type"] ?? "");
  const bodyRaw = request.body.toString("utf8");
  return {
    method: request.method,
    path: request.path,
    query: collect(request.search),
    headers: Object.fromEntries(
      Object.entries(request.headers)
        .filter(([name, value]) => value !== undefined && !PROXY_HEADER.test(name))
        .map(([name, value]) => [
          name.toLowerCase(),
          Array.isArray(value) ? value.join(", ") : String(value),
        ]),
    ),
    bodyRaw,
    body: await parseBody(type, request.body, bodyRaw),
    url: request.url,
    client_ip: request.clientIp,
  };
}

async function parseBody(type: string, body: Buffer, text: string): Promise<unknown> {
  if (body.length === 0) return type.includes("json") ? null : "";
  // What does not parse as it claims stays text: the component decides, `bodyRaw` has all of it.
  try {
    if (/\bjson\b|\+json/.test(type)) return JSON.parse(text);
    if (type.startsWith("application/x-www-form-urlencoded")) return collect(new URLSearchParams(text));
    if (type.startsWith("multipart/form-data")) return await parseMultipart(type, body);
  } catch {
    return text;
  }
  return text;
}

async function parseMultipart(type: string, body: Buffer): Promise<Record<string, unknown>> {
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  const fields: Record<string, unknown> = Object.create(null);
  for (const [name, value] of form) {
    fields[name] =
      typeof value === "string"
        ? value
        : { filename: value.name, type: value.type, content: await value.text() };
  }
  return { ...fields };
}

/** A name given once is a text, given more often a list. */
function collect(pairs: URLSearchParams): Record<string, string | string[]> {
  return Object.fromEntries(
    [...new Set(pairs.keys())].map(name => {
      const values = pairs.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? "") : values];
    }),
  );
}
