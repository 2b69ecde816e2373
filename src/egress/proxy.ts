import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect as connectTcp, isIPv6, type Socket } from "node:net";
import { bareHost } from "../lib/hosts.ts";
import { EgressError, toEgressError } from "./egress-error.ts";
import { startTls } from "./kept-connections.ts";

/** The forward proxy of `EGRESS_PROXY`, through which connections are made. */
export interface EgressProxy {
  host: string;
  port: number;
  /** Whether it is spoken to over TLS. */
  isTls: boolean;
  /** The value of `Proxy-Authorization`; undefined without a user. */
  authorization: string | undefined;
}

const PORTS: Record<string, number> = { "http:": 80, "https:": 443 };

/**
 * Returns the parts of `http://user:password@host:port`, of which user and password may be absent. Throws an error whose message
 * says what is wrong, without the URL, because that may have a password.
 */
export function parseProxyUrl(text: string): EgressProxy {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const port = PORTS[url?.protocol ?? ""];
  if (!url || port === undefined || url.hostname === "") {
    throw new Error("must be http://user:password@host:port or https://user:password@host:port");
  }
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    throw new Error("must end after the port");
  const hasUser = url.username !== "" || url.password !== "";
  const credentials = `${decoded(url.username)}:${decoded(url.password)}`;
  return {
    host: bareHost(url.hostname),
    port: Number(url.port) || port,
    isTls: url.protocol === "https:",
    authorization: hasUser ? `Basic ${Buffer.from(credentials).toString("base64")}` : undefined,
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Error("has a part that is not percent-encoded");
  }
}

/** Where a connection through the proxy goes. */
interface Tunnel {
  /** An address that the guard has checked: the proxy gets no name that it would resolve again. */
  ip: string;
  port: number;
  /** The name, for messages. */
  host: string;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/**
 * Opens a connection to a checked address through the proxy, by `CONNECT`. Throws EgressError: `local` if the proxy itself is away or
 * wants other credentials, because that says nothing about the host; or the signal's reason.
 */
export async function connectThrough(proxy: EgressProxy, tunnel: Tunnel): Promise<Socket> {
  const { host, signal } = tunnel;
  signal?.throwIfAborted();
  const until = Date.now() + tunnel.timeoutMs;
  const leftMs = () => Math.max(1, until - Date.now());
  const socket = await proxySocket(proxy, leftMs()).catch((error: unknown) => {
    throw ofProxy(`can't be reached: ${toEgressError(error, "the proxy").message}`, error);
  });
  const onAbort = () => socket.destroy();
  const timer = setTimeout(() => {
    socket.destroy(new EgressError("timeout", `connecting to ${host} timed out`));
  }, leftMs());
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const status = await sendConnect(socket, proxy, tunnel);
    if (status === 407) throw ofProxy("wants another user or password");
    if (status < 200 || status > 299) {
      throw new EgressError("connect", `could not connect to ${host}: the proxy responded ${status}`);
    }
    return socket;
  } catch (error) {
    socket.destroy();
    signal?.throwIfAborted();
    throw toEgressError(error, host);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Not the host's failure, so that deliveries wait as they do while this machine has no network. */
const ofProxy = (message: string, cause?: unknown) =>
  new EgressError("local", `the proxy of EGRESS_PROXY ${message}`, cause);

async function proxySocket({ host, port, isTls }: EgressProxy, timeoutMs: number): Promise<Socket> {
  const socket = connectTcp({ host, port, noDelay: true, allowHalfOpen: true });
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => fail(new EgressError("timeout", "it did not respond in time")), timeoutMs);
    const fail = (error: Error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    socket.once("error", fail);
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.removeListener("error", fail);
      resolve();
    });
  });
  // An error before the next owner adds its own listener must not end the process.
  socket.on("error", () => undefined);
  return isTls ? await startTls(socket, { hostname: host, timeoutMs, protocols: ["http/1.1"] }) : socket;
}

/** Asks the proxy for the connection and returns the status of its response; what follows on the socket is the host's. */
function sendConnect(socket: Socket, { authorization }: EgressProxy, { ip, port }: Tunnel): Promise<number> {
  const authority = `${isIPv6(ip) ? `[${ip}]` : ip}:${port}`;
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      method: "CONNECT",
      path: authority,
      headers: {
        host: authority,
        ...(authorization !== undefined && { "proxy-authorization": authorization }),
      },
      createConnection: () => socket,
    });
    request.once("connect", (response: IncomingMessage, _socket: Socket, head: Buffer) => {
      if (head.length > 0) socket.unshift(head);
      resolve(response.statusCode ?? 0);
    });
    request.once("error", reject);
    request.end();
  });
}
