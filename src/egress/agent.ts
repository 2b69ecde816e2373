import type { Socket } from "node:net";
import { LRUCache } from "lru-cache";
import { Agent, type buildConnector, type Dispatcher } from "undici";
import { AppError } from "../lib/errors.ts";
import { readUrl } from "./check-url.ts";
import { type CheckAddresses, createAddressCheck, createDial, type Dial, type DialOptions } from "./dial.ts";
import { EgressError, toEgressError } from "./egress-error.ts";
import { KeptConnections, startTls } from "./kept-connections.ts";
import { type RawResponse, sendRequest } from "./send-request.ts";

export interface EgressOptions extends DialOptions {
  /** Sent with each request that does not set a `user-agent` header itself. */
  userAgent?: string;
}

export interface EgressRequest {
  method: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** From the start of the request to the last byte of the response. */
  timeoutMs: number;
  /** How much of the response's body is read. If it is longer, the connection is closed. */
  maxResponseBytes: number;
  signal?: AbortSignal;
  /** True if the receiver knows a repeat: it is sent once more if a kept connection ends before any byte of a response. */
  isRepeatable?: boolean;
}

export interface EgressResponse {
  status: number;
  /** Names in lower case; values of a repeated header are joined by a comma. */
  headers: Record<string, string>;
  body: Buffer;
  /** The body was longer than `maxResponseBytes`, or the connection broke. */
  truncated: boolean;
}

export interface Egress {
  /** Sends one request; redirects are not followed. Throws EgressError, or the signal's reason if it was aborted. */
  request(url: string | URL, request: EgressRequest): Promise<EgressResponse>;
  /**
   * Opens a connection for another protocol than HTTP, and starts TLS if `tls` is given; its owner closes it. Throws
   * EgressError.
   */
  connect(target: ConnectTarget): Promise<Socket>;
  /** Returns the addresses of a host that may be connected to, for a library that connects by itself. Throws EgressError. */
  checkAddresses: CheckAddresses;
  /** Whether connections go through a proxy, so that no library may connect by itself. */
  isProxied: boolean;
  /** Closes all connections of `request`. */
  close(): Promise<void>;
}

export interface ConnectTarget {
  host: string;
  port: number;
  /** `ca`: certificates in PEM that are trusted, and no others. */
  tls?: { ca?: string };
}

/**
 * Many servers close idle connections after 5 s. Closing ours earlier means that no request is sent on a connection
 * that the server is just closing.
 */
const KEEP_ALIVE_MS = 4000;

/**
 * Returns the guarded way out for deliveries and `component_url` (docs/design.md#egress-guard). Throws AppError
 * `invalid` if an entry of `allow` is not a CIDR.
 */
export function createEgress(options: EgressOptions): Egress {
  const checkAddresses = createAddressCheck(options);
  const dial = createDial(options, checkAddresses);
  const kept = new KeptConnections();
  const connect = guardedConnector(dial, options.connectTimeoutMs, kept);
  const agent = new Agent({
    connect,
    // No bound here: requests that wait for a connection would do so in one line for all accounts, and on the endpoint's
    // time. Callers bound what they have in flight (src/deliveries/limits/in-flight.ts).
    connections: null,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    pipelining: 1,
  });
  // Without pipelining each request has a connection of its own.
  const fresh = new Agent({ connect, connections: null, pipelining: 0 });
  return {
    request: async (url, request) => {
      const sending = { url: parseUrl(url), request, userAgent: options.userAgent };
      return await send(sending, async dispatch => {
        try {
          return await dispatch(agent);
        } catch (error) {
          if (!request.isRepeatable || !kept.endedUnused(error)) throw error;
          return await dispatch(fresh);
        }
      });
    },
    checkAddresses: (host, port) =>
      checkAddresses(host, port).catch((error: unknown) => {
        throw toEgressError(error, host);
      }),
    isProxied: options.proxy !== undefined,
    connect: target => connectTo(dial, target, options.connectTimeoutMs),
    close: async () => {
      kept.close();
      await Promise.all([agent.destroy(), fresh.destroy()]);
    },
  };
}

/** Parsed URLs: a busy webhook's is requested thousands of times a second. What is given as a URL is requested once. */
const parsed = new LRUCache<string, URL>({ max: 1000 });

function parseUrl(url: string | URL): URL {
  if (typeof url !== "string") return checked(url.href);
  const known = parsed.get(url) ?? checked(url);
  parsed.set(url, known);
  return known;
}

function checked(url: string): URL {
  try {
    return readUrl(url, { in: "query", path: "url" });
  } catch (error) {
    throw new EgressError("invalid-url", error instanceof AppError ? error.message : String(error), error);
  }
}

interface Sending {
  url: URL;
  request: EgressRequest;
  userAgent: string | undefined;
}

/** Calls `attempt` with what sends the request by an agent, all within the request's time. */
async function send(
  { url, request, userAgent }: Sending,
  attempt: (dispatch: (agent: Agent) => Promise<RawResponse>) => Promise<RawResponse>,
): Promise<EgressResponse> {
  let abort: (reason: Error) => void = () => undefined;
  let stopped: Error | undefined;
  const stop = (reason: Error) => {
    stopped = reason;
    abort(reason);
  };
  const dispatch = async (agent: Agent) => {
    if (stopped) throw stopped;
    const pending = sendRequest(
      agent,
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method.toUpperCase() as Dispatcher.HttpMethod,
        headers: withUserAgent(request.headers ?? {}, userAgent),
        body: request.body ?? null,
      },
      request.maxResponseBytes,
    );
    abort = pending.abort;
    return await pending.response;
  };
  const timer = setTimeout(() => {
    stop(new EgressError("timeout", `${url.hostname} did not respond within ${request.timeoutMs} ms`));
  }, request.timeoutMs);
  const { signal } = request;
  const onAbort = () => stop(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  try {
    const { status, headers, body, truncated } = await attempt(dispatch);
    signal?.throwIfAborted();
    return { status, headers: joinHeaders(headers), body, truncated };
  } catch (error) {
    signal?.throwIfAborted();
    if ((error as { code?: string }).code === "UND_ERR_INVALID_ARG") {
      throw new EgressError("invalid-url", `not a valid request: ${(error as Error).message}`, error);
    }
    throw stopped ?? toEgressError(error, url.hostname);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

function withUserAgent(
  headers: Record<string, string>,
  userAgent: string | undefined,
): Record<string, string> {
  const isSet = Object.keys(headers).some(header => header.toLowerCase() === "user-agent");
  return isSet || userAgent === undefined ? headers : { ...headers, "user-agent": userAgent };
}

function joinHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
}

function guardedConnector(dial: Dial, timeoutMs: number, kept: KeptConnections): buildConnector.connector {
  return (target, callback) => {
    const port = Number(target.port || (target.protocol === "https:" ? 443 : 80));
    dial(target.hostname, port)
      .then(socket =>
        target.protocol === "https:"
          ? startTls(socket, { hostname: target.hostname, timeoutMs, protocols: ["http/1.1"] })
          : socket,
      )
      .then(socket => {
        kept.add(socket);
        callback(null, socket);
      })
      .catch((error: unknown) => callback(toEgressError(error, target.hostname), null));
  };
}

async function connectTo(dial: Dial, { host, port, tls }: ConnectTarget, timeoutMs: number): Promise<Socket> {
  try {
    const dialled = await dial(host, port);
    const socket = tls ? await startTls(dialled, { hostname: host, timeoutMs, ...tls }) : dialled;
    // A connection that the other side ends is of no more use, and an error without a listener would end the process.
    socket.once("end", () => socket.destroy());
    socket.on("error", () => undefined);
    return socket;
  } catch (error) {
    throw toEgressError(error, host);
  }
}
