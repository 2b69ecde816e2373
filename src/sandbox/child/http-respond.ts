import type { HttpResponse } from "../protocol.ts";
import { MAX_COOKIES } from "./wire.ts";

/**
 * Converts the argument of `respond` (docs/component-api.md#events-given-to-run). Throws TypeError or RangeError if it
 * can't be sent; `maxBytes` limits the body.
 */
export function readResponse(given: unknown, maxBytes: number): HttpResponse {
  const { status = 200, headers, body } = (given ?? {}) as Record<string, unknown>;
  const code = Number(status);
  if (!Number.isInteger(code) || code < 200 || code > 599) {
    throw new TypeError(`respond: ${String(status)} is not a valid status; it must be between 200 and 599`);
  }
  const checkedHeaders = readHeaders(headers);
  const bytes = readBody(body, checkedHeaders);
  if (bytes.length > maxBytes) throw new RangeError(`respond: a body can have at most ${maxBytes} bytes`);
  return { status: code, headers: checkedHeaders, bodyBase64: bytes.toString("base64") };
}

function readHeaders(given: unknown): HttpResponse["headers"] {
  const headers: HttpResponse["headers"] = {};
  for (const [name, value] of Object.entries((given ?? {}) as Record<string, unknown>)) {
    if (value === undefined || value === null) continue;
    // Cookies can't be joined: a date in a cookie has a comma of its own.
    const isList = Array.isArray(value) && name.toLowerCase() === "set-cookie";
    const texts = isList ? value.map(String) : [Array.isArray(value) ? value.join(", ") : String(value)];
    if (!/^[\w!#$%&'*+.^`|~-]{1,200}$/.test(name)) {
      throw new TypeError(`respond: "${name}" is not a valid header name`);
    }
    // The characters that HTTP permits in a value. A line break is not among them: it would start another header.
    if (texts.length > MAX_COOKIES) {
      throw new TypeError(`respond: the header "${name}" can have at most ${MAX_COOKIES} values`);
    }
    if (!texts.every(text => /^[\t\x20-\x7e\x80-\xff]{0,8192}$/.test(text))) {
      throw new TypeError(
        `respond: the value of the header "${name}" contains characters that are not permitted, or is too long`,
      );
    }
    headers[name] = isList ? texts : (texts[0] ?? "");
  }
  return headers;
}

function readBody(body: unknown, headers: HttpResponse["headers"]): Buffer {
  if (body === undefined || body === null) return Buffer.alloc(0);
  if (body instanceof Uint8Array) return Buffer.from(body);
  if (body instanceof ArrayBuffer) return Buffer.from(new Uint8Array(body));
  if (typeof body !== "object") return Buffer.from(String(body));
  if (!Object.keys(headers).some(name => name.toLowerCase() === "content-type")) {
    headers["content-type"] = "application/json; charset=utf-8";
  }
  return Buffer.from(JSON.stringify(body));
}
