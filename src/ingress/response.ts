import { isUtf8 } from "node:buffer";
import { LIMITS } from "../limits/catalogue.ts";
import { confineCookie, splitHeaders } from "../runs/response-headers.ts";
import type { HttpResponse } from "../sandbox/protocol.ts";
import type { ChallengeResponse } from "../verify/challenges.ts";

/** A larger request body is rejected with 413 (docs/component-api.md#events-given-to-run). */
export const MAX_BODY_BYTES = LIMITS.ingressBodyBytes.value;

export interface IngressResponse {
  status: number;
  headers: Record<string, string | string[]>;
  body: Buffer;
}

export const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET,HEAD,PUT,POST,DELETE,PATCH,OPTIONS",
  "access-control-max-age": "86400",
};

/** A page from a component must not run with the rights of this origin, which may also serve the board. */
const GUARD = { "content-security-policy": "sandbox", "x-content-type-options": "nosniff" };

const json = (status: number, type: string, value: unknown): IngressResponse => ({
  status,
  headers: { "content-type": type },
  body: Buffer.from(JSON.stringify(value)),
});

/** Returns the response to a request whose run was accepted, or ended without a response of its own. */
export const accepted = (runId: string): IngressResponse =>
  json(200, "application/json; charset=utf-8", { run_id: runId });

/** Returns the response to an app whose event runs these. */
export const acceptedRuns = (runIds: string[]): IngressResponse =>
  json(200, "application/json; charset=utf-8", { run_ids: runIds });

/** Returns the response that sends a text back. */
export const plainText = (text: string): IngressResponse => ({
  status: 200,
  headers: { "content-type": "text/plain; charset=utf-8", ...GUARD },
  body: Buffer.from(text),
});

/** Returns the response to a provider that checks the endpoint. */
export const challengeResponse = ({ status, type, headers, body }: ChallengeResponse): IngressResponse => ({
  status,
  headers: { ...headers, ...(type !== null && { "content-type": type }), ...GUARD },
  body: Buffer.from(body),
});

/** Returns the response to a request that reports what another one has reported before: no run is started. */
export const repeated = (): IngressResponse =>
  json(200, "application/json; charset=utf-8", { run_id: null, repeated: true });

/** Returns the response to an app that reports what it has reported before: no source runs. */
export const repeatedEvent = (): IngressResponse =>
  json(200, "application/json; charset=utf-8", { run_ids: [], repeated: true });

/** Returns the response to a request that can't be verified until a hook of the source has set its secret: it is to come again. */
export function beingSetUp(): IngressResponse {
  const response = rejected(503, "the endpoint is being set up");
  return { ...response, headers: { ...response.headers, "retry-after": "5" } };
}

/** Returns the response to a request that can't be verified until the key of its sender can be fetched: it is to come again. */
export function lacksKey(): IngressResponse {
  const response = rejected(503, "the request can't be verified now");
  return { ...response, headers: { ...response.headers, "retry-after": "30" } };
}

/** Returns the response to a request by which a service asked to confirm what it will send, and was told so. */
export const confirmed = (): IngressResponse => plainText("");

/** Returns the response to one that could not be told so: it is to ask again. */
export const notConfirmed = (): IngressResponse => rejected(503, "the subscription could not be confirmed");

/** Returns an error response in the shape of the API's errors (docs/design.md#errors). */
export const rejected = (status: number, detail: string): IngressResponse =>
  json(status, "application/problem+json", { type: "about:blank", status, detail, error: detail });

/**
 * Returns the response that a component sent with `respond`, with the headers that it may set
 * (docs/component-api.md#response-headers). `cookiePath` is the endpoint's path if endpoints have a host of their own;
 * without it the component can't set cookies.
 */
export function fromComponent(
  { status, headers, bodyBase64 }: HttpResponse,
  { cookiePath }: { cookiePath?: string | undefined } = {},
): IngressResponse {
  const body = Buffer.from(bodyBase64, "base64");
  const sent: Record<string, string | string[]> = {};
  for (const [name, value] of splitHeaders(headers, { cookies: cookiePath !== undefined }).allowed) {
    const values = [value].flat() as string[];
    const isCookie = name.toLowerCase() === "set-cookie";
    const confined = isCookie ? values.map(one => confineCookie(one, cookiePath ?? "")) : values;
    sent[name] = confined.length === 1 ? (confined[0] as string) : confined;
  }
  const hasType = Object.keys(sent).some(name => name.toLowerCase() === "content-type");
  const type = isUtf8(body) ? "text/plain; charset=utf-8" : "application/octet-stream";
  return {
    status,
    headers: {
      ...sent,
      ...(body.length > 0 && !hasType && { "content-type": type }),
      ...GUARD,
    },
    body,
  };
}
