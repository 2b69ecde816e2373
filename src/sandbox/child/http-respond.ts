import type { HttpResponse } from "../protocol.ts";

/** Reads what a component gives to `respond` (runtime.md, "Events given to run"); throws TypeError or RangeError. */
export function readResponse(given: unknown, maxBytes: number): HttpResponse {
  const { status = 200, headers, body } = (given ?? {}) as Record<string, unknown>;
  const code = Number(status);
  if (!Number.isInteger(code) || code < 200 || code > 599) {
    throw new TypeError(`respond: ${String(status)} is no HTTP status`);
  }
  const read = readHeaders(headers);
  const bytes = readBody(body, read);
  if (bytes.length > maxBytes) throw new RangeError(`respond: a body may have ${maxBytes} bytes`);
  return { status: code, headers: read, bodyBase64: bytes.toString("base64") };
}

function readHeaders(given: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries((given ?? {}) as Record<string, unknown>)) {
    if (value === undefined || value === null) continue;
    const text = Array.isArray(value) ? value.join(", ") : String(value);
    if (!/^[\w!#$%&'*+.^`|~-]{1,200}$/.test(name))
      throw new TypeError(`respond: "${name}" is no header name`);
    // The rule of HTTP for a header's value, which also keeps a line end from starting a header of its own.
    if (!/^[\t\x20-\x7e\x80-\xff]{0,8192}$/.test(text)) {
      throw new TypeError(`respond: the value of "${name}" can't be sent as a header`);
    }
    headers[name] = text;
  }
  return headers;
}

function readBody(body: unknown, headers: Record<string, string>): Buffer {
  if (body === undefined || body === null) return Buffer.alloc(0);
  if (body instanceof Uint8Array) return Buffer.from(body);
  if (body instanceof ArrayBuffer) return Buffer.from(new Uint8Array(body));
  if (typeof body !== "object") return Buffer.from(String(body));
  if (!Object.keys(headers).some(name => name.toLowerCase() === "content-type")) {
    headers["content-type"] = "application/json; charset=utf-8";
  }
  return Buffer.from(JSON.stringify(body));
}
