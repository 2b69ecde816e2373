import type { Socket } from "node:net";
import { isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import { Agent, type buildConnector, type Dispatcher } from "undici";
import { AppError } from "../lib/errors.ts";
import { checkUrl } from "./check-url.ts";
import { createDial, type Dial, type DialOptions } from "./dial.ts";
import { EgressError, toEgressError } from "./egress-error.ts";
import { exchange } from "./exchange.ts";

export interface EgressOptions extends DialOptions {
  /** Sent where a request names no `user-agent` of its own. */
  userAgent?: string;
}

export interface EgressRequest {
  method: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** From the start of the request to the last byte of the answer. */
  timeoutMs: number;
  /** What is read of the answer's body; the rest is dropped with its connection. */
  maxResponseBytes: number;
  signal?: AbortSignal;
}

export interface EgressResponse {
  status: number;
  /** Names in lower case; repeated headers joined by a comma. */
  headers: Record<string, string>;
  body: Buffer;
  /** The body was longer than asked for, or broke off. */
  truncated: boolean;
}

export interface Egress {
  /** One request, redirects not followed. Throws EgressError, or the signal's reason when that was aborted. */
  request(url: string | URL, request: EgressRequest): Promise<EgressResponse>;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** One receiver may not take every socket of the process; deliveries to one host beyond it queue here. */
const CONNECTIONS_PER_ORIGIN = 64;
/** Idle connections end before the 5 s after which many servers end theirs: no request meets a closing one. */
const KEEP_ALIVE_MS = 4000;

/** The guarded HTTP client for deliveries and `component_url` (design.md, "Egress guard"). */
export function createEgress(options: EgressOptions): Egress {
  const agent = new Agent({
    connect: guardedConnector(createDial(options), options.connectTimeoutMs),
    connections: CONNECTIONS_PER_ORIGIN,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    pipelining: 1,
  });
  return {
    request: async (url, request) => send(agent, readUrl(url), request, options.userAgent),
    close: () => agent.destroy(),
  };
}

function readUrl(url: string | URL): URL {
  try {
    return checkUrl(String(url));
  } catch (error) {
    throw new EgressError("invalid-url", error instanceof AppError ? error.message : String(error), error);
  }
}

async function send(
  agent: Agent,
  url: URL,
  request: EgressRequest,
  agentName?: string,
): Promise<EgressResponse> {
  const { answer, stop } = exchange(
    agent,
    {
      origin: url.origin,
      path: url.pathname + url.search,
      method: request.method.toUpperCase() as Dispatcher.HttpMethod,
      headers: withAgent(request.headers ?? {}, agentName),
      body: request.body ?? null,
    },
    request.maxResponseBytes,
  );
  let late: EgressError | undefined;
  const timer = setTimeout(() => {
    late = new EgressError("timeout", `${url.hostname} did not answer within ${request.timeoutMs} ms`);
    stop(late);
  }, request.timeoutMs);
  const { signal } = request;
  const onAbort = () => stop(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  try {
    const { status, headers, body, truncated } = await answer;
    signal?.throwIfAborted();
    return { status, headers: joined(headers), body, truncated };
  } catch (error) {
    signal?.throwIfAborted();
    if ((error as { code?: string }).code === "UND_ERR_INVALID_ARG") {
      throw new EgressError("invalid-url", `not a valid request: ${(error as Error).message}`, error);
    }
    throw late ?? toEgressError(error, url.hostname);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

function withAgent(headers: Record<string, string>, name: string | undefined): Record<string, string> {
  const isNamed = Object.keys(headers).some(header => header.toLowerCase() === "user-agent");
  return isNamed || name === undefined ? headers : { ...headers, "user-agent": name };
}

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
}

function guardedConnector(dial: Dial, timeoutMs: number): buildConnector.connector {
  return (target, callback) => {
    const port = Number(target.port || (target.protocol === "https:" ? 443 : 80));
    dial(target.hostname, port)
      .then(socket => (target.protocol === "https:" ? secure(socket, target.hostname, timeoutMs) : socket))
      .then(socket => callback(null, socket))
      .catch((error: unknown) => callback(toEgressError(error, target.hostname), null));
  };
}

/** TLS over a vetted socket. The certificate must be for the name, whatever address was chosen. */
function secure(socket: Socket, hostname: string, timeoutMs: number): Promise<Socket> {
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((done, failed) => {
    const secured = connectTls({
      socket,
      host,
      ALPNProtocols: ["http/1.1"],
      ...(isIP(host) ? {} : { servername: host }),
    });
    const fail = (error: unknown) => {
      clearTimeout(timer);
      socket.destroy();
      secured.destroy();
      failed(error);
    };
    const timer = setTimeout(
      () => fail(new EgressError("timeout", `no TLS with ${host} in time`)),
      timeoutMs,
    );
    secured.once("error", fail);
    secured.once("secureConnect", () => {
      clearTimeout(timer);
      secured.removeListener("error", fail);
      done(secured);
    });
  });
}
