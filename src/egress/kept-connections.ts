import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { bareHost } from "../lib/hosts.ts";
import { EgressError } from "./egress-error.ts";

/** undici publishes each request here, with its socket, when it writes the headers. */
const HEADERS_SENT = "undici:client:sendHeaders";

/**
 * Knows which errors are of a connection that had served a request before and ended before any byte of the next response.
 * Its server may have closed it while the request was on its way, which says nothing about the server (RFC 9112, 9.3.1).
 */
export class KeptConnections {
  /** What had been read from each socket when its last request was sent. */
  readonly #readBefore = new WeakMap<object, number>();
  readonly #errors = new WeakSet<object>();
  readonly #onSent = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    if (this.#readBefore.has(socket)) this.#readBefore.set(socket, socket.bytesRead);
  };

  constructor() {
    subscribe(HEADERS_SENT, this.#onSent);
  }

  /** Watches a new connection. */
  add(socket: Socket): void {
    // TLS, or a proxy, has responded by then.
    const atFirst = socket.bytesRead;
    this.#readBefore.set(socket, atFirst);
    socket.prependListener("error", error => {
      const before = this.#readBefore.get(socket) ?? atFirst;
      if (before > atFirst && socket.bytesRead === before) this.#errors.add(error);
    });
  }

  /** True if this error of a request is that of such a connection. */
  endedUnused(error: unknown): boolean {
    return typeof error === "object" && error !== null && this.#errors.has(error);
  }

  close(): void {
    unsubscribe(HEADERS_SENT, this.#onSent);
  }
}

export interface TlsOptions {
  /** The name that the certificate must be valid for, whatever the address. */
  hostname: string;
  timeoutMs: number;
  /** Certificates in PEM that are trusted, and no others; by default those that Node trusts. */
  ca?: string;
  /** Protocols to agree on, such as `http/1.1`. */
  protocols?: string[];
}

/** Starts TLS on a connected socket. Throws EgressError `timeout`, or what TLS fails with. */
export function startTls(
  socket: Socket,
  { hostname, timeoutMs, ca, protocols }: TlsOptions,
): Promise<Socket> {
  const host = bareHost(hostname);
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      clearTimeout(timer);
      socket.destroy();
      secured?.destroy();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(new EgressError("timeout", `the TLS handshake with ${host} timed out`)),
      timeoutMs,
    );
    const secured = connectTls({
      socket,
      host,
      ...(protocols && { ALPNProtocols: protocols }),
      ...(ca !== undefined && { ca }),
      ...(isIP(host) ? {} : { servername: host }),
    });
    secured.once("error", fail);
    secured.once("secureConnect", () => {
      clearTimeout(timer);
      secured.removeListener("error", fail);
      resolve(secured);
    });
  });
}
