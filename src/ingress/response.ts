import { isUtf8 } from "node:buffer";
import type { HttpResponse } from "../sandbox/protocol.ts";

/** runtime.md, "Events given to run": over this 413. */
export const MAX_BODY_BYTES = 512 * 1024;

export interface IngressResponse {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** Headers a component may not set: they describe the connection, which is ours, or protect our origin. */
const OWN_HEADERS = new Set([
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

/** The response to a request whose run has been taken on, or has ended without one of its own. */
export const taken = (runId: string): IngressResponse =>
  json(200, "application/json; charset=utf-8", { run_id: runId });

/** A refusal in the API's shape (design.md, "REST decisions"). */
export const refused = (status: number, detail: string): IngressResponse =>
  json(status, "application/problem+json", { type: "about:blank", status, detail, error: detail });

/** What a component answered. */
export function answered({ status, headers, bodyBase64 }: HttpResponse): IngressResponse {
  const body = Buffer.from(bodyBase64, "base64");
  const own = Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name.toLowerCase()));
  const isTyped = own.some(([name]) => name.toLowerCase() === "content-type");
  const type = isUtf8(body) ? "text/plain; charset=utf-8" : "application/octet-stream";
  return {
    status,
    headers: {
      ...Object.fromEntries(own),
      ...(body.length > 0 && !isTyped && { "content-type": type }),
      // An response of a component must not act with the rights of this origin (board, docs).
      "content-security-policy": "sandbox",
    },
    body,
  };
}
