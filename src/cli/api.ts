import { createEgress } from "../egress/agent.ts";
import { EgressError } from "../egress/egress-error.ts";
import { AppError, type ErrorCode } from "../lib/errors.ts";

/** Where a running Headwater is, and as whom it is asked. */
export interface ApiAccess {
  /** Without `/v1`. */
  url: string;
  apiKey: string;
}

/** A client of the REST API (rest-api.md). */
export interface ApiClient {
  /** The answer's body. Throws AppError with the API's own words, or `unavailable` when nobody answers. */
  request<Body>(method: string, path: string, body?: unknown): Promise<Body>;
  close(): Promise<void>;
}

/** npm packages to fetch, and hooks that wait for their place in the line and then take their minute, each. */
const TIMEOUT_MS = 180_000;
const CONNECT_MS = 10_000;
/** A page of sources with large props; an answer that is longer is none of this API's. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

const CODES: Record<number, ErrorCode> = {
  401: "unauthenticated",
  403: "forbidden",
  404: "not-found",
  409: "conflict",
  413: "too-large",
  429: "rate-limited",
  503: "unavailable",
};

/** The addresses are the operator's own choice, so none is refused. */
const ANYWHERE = ["0.0.0.0/0", "::/0"];

function parsed(text: string): { detail?: string } & Record<string, unknown> {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/** Opens a client; nothing is sent before the first request. */
export function openApi({ url, apiKey }: ApiAccess, userAgent: string): ApiClient {
  const base = url.replace(/\/+$/, "").replace(/\/v1$/, "");
  const egress = createEgress({ allow: ANYWHERE, blockedHosts: [], connectTimeoutMs: CONNECT_MS, userAgent });
  return {
    async request<Body>(method: string, path: string, body?: unknown) {
      const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
      const answer = await egress
        .request(`${base}/v1${path}`, {
          method,
          headers,
          timeoutMs: TIMEOUT_MS,
          maxResponseBytes: MAX_ANSWER_BYTES,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        .catch((error: unknown) => {
          if (!(error instanceof EgressError)) throw error;
          throw new AppError("unavailable", `${base} does not answer: ${error.message}`, { cause: error });
        });
      const content = parsed(answer.body.toString("utf8"));
      if (answer.status >= 200 && answer.status < 300 && !answer.truncated) return content as Body;
      const said = content.detail ?? "no word why: is it a Headwater?";
      throw new AppError(CODES[answer.status] ?? "invalid", `${base} answered ${answer.status}: ${said}`);
    },
    close: () => egress.close(),
  };
}
