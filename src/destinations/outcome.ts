import { EgressError } from "../egress/egress-error.ts";
import { AppError } from "../lib/errors.ts";
import type { EndpointResponse } from "./message.ts";

/** No more of a response is kept: it is stored with the attempt, and an endpoint may send without end. */
export const MAX_RESPONSE_BYTES = 1024;

/** A destination has responded, and does not accept the event; `message` says why, without a secret. */
export class Rejected extends Error {}

/** What a destination said to an event. */
interface Said {
  status: number;
  response: string;
  retryAfter?: string | null;
}

/**
 * Makes an attempt and returns its outcome: what the destination said, or why nothing came back. Throws `unavailable` if
 * `signal` aborts the attempt, or if this process can open no connection, and whatever is not a failure of the destination.
 */
export async function outcomeOf(
  signal: AbortSignal | undefined,
  attempt: () => Promise<Said>,
): Promise<EndpointResponse> {
  const startedAt = performance.now();
  const latencyMs = () => Math.round(performance.now() - startedAt);
  try {
    const { status, response, retryAfter = null } = await attempt();
    return {
      status,
      latencyMs: latencyMs(),
      error: status >= 200 && status < 300 ? null : `HTTP status ${status}`,
      response: response.slice(0, MAX_RESPONSE_BYTES),
      retryAfter,
      timedOut: false,
    };
  } catch (error) {
    if (signal?.aborted) {
      throw new AppError("unavailable", "stopped before the endpoint responded", { cause: error });
    }
    if (!(error instanceof EgressError || error instanceof Rejected)) throw error;
    const code = error instanceof EgressError ? error.code : "rejected";
    if (code === "local") {
      throw new AppError("unavailable", "this process can't open connections", { cause: error });
    }
    return {
      status: null,
      latencyMs: latencyMs(),
      error: `${code}: ${error.message}`,
      response: "",
      retryAfter: null,
      timedOut: code === "timeout",
    };
  }
}
