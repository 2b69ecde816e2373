import { isUtf8 } from "node:buffer";
import { LIMITS } from "../limits/catalogue.ts";
import type { HttpResponse } from "../sandbox/protocol.ts";

/** A larger request body is rejected with 413 (docs/component-api.md#events-given-to-run). */
export const MAX_BODY_BYTES = LIMITS.ingressBodyBytes.value;

export interface IngressResponse {
  status: number;
  headers: Record<string, string | string[]>;
  body: Buffer;
}

/** Headers that a component may not set, because they describe our connection or protect our origin. */
const RESERVED_HEADERS = new Set([
  "content-security-policy",
  "connection",
  "content-length",
  "transfer-encoding",
  "keep-alive",
  "upgrade",
  "trailer",
]);

export const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET,HEAD,PUT,POST,DELETE,PATCH,OPTIONS",
  "access-control-max-age": "86400",
};

const json = (status: number, type: string, value: unknown): IngressResponse => ({
  status,
  headers: { "content-type": type },
  body: Buffer.from(JSON.stringify(value)),
});

/** Returns the response to a request whose run was accepted, or ended without a response of its own. */
export const accepted = (runId: string): IngressResponse =>
  json(200, "application/json; charset=utf-8", { run_id: runId });

/** Returns an error response in the shape of the API's errors (docs/design.md#errors). */
export const rejected = (status: number, detail: string): IngressResponse =>
  json(status, "application/problem+json", { type: "about:blank", status, detail, error: detail });

/** Returns the response that a component sent with `respond`, without reserved headers. */
export function fromComponent({ status, headers, bodyBase64 }: HttpResponse): IngressResponse {
  const body = Buffer.from(bodyBase64, "base64");
  const allowed = Object.entries(headers).filter(([name]) => !RESERVED_HEADERS.has(name.toLowerCase()));
  const hasType = allowed.some(([name]) => name.toLowerCase() === "content-type");
  const type = isUtf8(body) ? "text/plain; charset=utf-8" : "application/octet-stream";
  return {
    status,
    headers: {
      ...Object.fromEntries(allowed),
      ...(body.length > 0 && !hasType && { "content-type": type }),
      // A page from a component must not run with the rights of this origin, which also serves the board.
      "content-security-policy": "sandbox",
    },
    body,
  };
}
