import type { Egress } from "./agent.ts";
import { EgressError } from "./egress-error.ts";

interface FetchBounds {
  /** From the start of a request to the last byte of its response. */
  timeoutMs: number;
  /** A longer response is an error. */
  maxResponseBytes: number;
}

/** What a library may ask of `fetch`, as far as the guard serves it. */
export interface GuardedFetchOptions {
  method: string;
  headers: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal | null;
}

/** Statuses whose responses have no body; `Response` accepts none with them. */
const WITHOUT_BODY = new Set([204, 205, 304]);

function bodyOf(body: unknown): string | Uint8Array | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  if (body instanceof URLSearchParams) return String(body);
  throw new TypeError("the guarded fetch sends texts and bytes only");
}

/**
 * Returns a `fetch` for libraries that need one, whose requests pass the egress guard (docs/design.md#egress-guard).
 * Redirects are not followed. Throws EgressError.
 */
export function fetchThrough(egress: Egress, { timeoutMs, maxResponseBytes }: FetchBounds) {
  return async (url: string, { method, headers, body, signal }: GuardedFetchOptions): Promise<Response> => {
    const sent = bodyOf(body);
    const response = await egress.request(url, {
      method,
      headers,
      ...(sent !== undefined && { body: sent }),
      ...(signal && { signal }),
      timeoutMs,
      maxResponseBytes,
    });
    const { hostname } = new URL(url);
    if (response.truncated)
      throw new EgressError("protocol", `the response of ${hostname} is too long or broken`);
    const content = WITHOUT_BODY.has(response.status) ? null : new Uint8Array(response.body);
    return new Response(content, { status: response.status, headers: response.headers });
  };
}
