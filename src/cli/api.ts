import { type Command, Option } from "commander";
import { AppError, type ErrorCode } from "../lib/errors.ts";

/** The address of a running Headwater, and an API key for it. */
export interface ApiAccess {
  /** With or without `/v1`. */
  url: string;
  apiKey: string;
}

/** A client of the REST API (docs/rest-api.md). */
export interface ApiClient {
  /**
   * Sends a request and returns the body of the response. Throws AppError with the API's own message, or
   * `unavailable` if there is no response.
   */
  request<Body>(method: string, path: string, body?: unknown): Promise<Body>;
  close(): Promise<void>;
}

/** Long enough to install npm packages, and for two hooks that wait for a worker and then take a minute each. */
const TIMEOUT_MS = 180_000;
const CONNECT_MS = 10_000;
/** More than a page of sources with large props; a longer response can't be from this API. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

const CODES: Record<number, ErrorCode> = {
  401: "unauthenticated",
  403: "forbidden",
  404: "not-found",
  409: "conflict",
  413: "too-large",
  429: "rate-limited",
  503: "unavailable",
};

/** The operator chooses the address, so every address is allowed. */
const ANY_ADDRESS = ["0.0.0.0/0", "::/0"];

/** Returns the URL of a server without a trailing slash and `/v1`. */
export const baseUrlOf = (url: string): string => url.replace(/\/+$/, "").replace(/\/v1$/, "");

function parseBody(text: string): { detail?: string } & Record<string, unknown> {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/** Opens a client; nothing is sent before the first request. */
export async function openApi({ url, apiKey }: ApiAccess, userAgent: string): Promise<ApiClient> {
  const [{ createEgress }, { EgressError }] = await Promise.all([
    import("../egress/agent.ts"),
    import("../egress/egress-error.ts"),
  ]);
  const base = baseUrlOf(url);
  const egress = createEgress({
    allow: ANY_ADDRESS,
    blockedHosts: [],
    connectTimeoutMs: CONNECT_MS,
    userAgent,
  });
  return {
    async request<Body>(method: string, path: string, body?: unknown) {
      const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
      const response = await egress
        .request(`${base}/v1${path}`, {
          method,
          headers,
          timeoutMs: TIMEOUT_MS,
          maxResponseBytes: MAX_RESPONSE_BYTES,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        .catch((error: unknown) => {
          if (!(error instanceof EgressError)) throw error;
          throw new AppError("unavailable", `no response from ${base}: ${error.message}`, { cause: error });
        });
      const content = parseBody(response.body.toString("utf8"));
      const isOk = response.status >= 200 && response.status < 300;
      if (isOk && !response.truncated) return content as Body;
      const detail = content.detail ?? "without a reason; is it a Headwater server?";
      throw new AppError(
        CODES[response.status] ?? "invalid",
        `${base} returned ${response.status}: ${detail}`,
      );
    },
    close: () => egress.close(),
  };
}

/** The options of every command that uses the API. */
export interface ApiOptions {
  url?: string;
  key?: string;
}

/** Adds `--url` and `--key` to a command. */
export function apiOptions(command: Command): Command {
  return command
    .addOption(new Option("--url <api>", "address of the server").env("HEADWATER_URL"))
    .addOption(new Option("--key <key>", "API key").env("HEADWATER_API_KEY"));
}

/**
 * Returns which server to use and with which key; `start` is this project's `npm start`, if there is one. Its key is sent
 * only to itself. Throws `invalid` if one of them is missing.
 */
export function apiAccessOf(options: ApiOptions, start: Partial<ApiAccess>): ApiAccess {
  const url = options.url ?? start.url;
  if (!url) throw new AppError("invalid", "no server: set its address with --url or HEADWATER_URL");
  if (!/^https?:\/\//.test(url)) throw new AppError("invalid", `${url} is not an http or https URL`);
  const apiKey = options.key ?? (url === start.url ? start.apiKey : undefined);
  if (!apiKey) throw new AppError("invalid", "no API key: set it with --key or HEADWATER_API_KEY");
  return { url, apiKey };
}
