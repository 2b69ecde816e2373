import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

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
    this.#readBefore.set(socket, 0);
    socket.prependListener("error", error => {
      const before = this.#readBefore.get(socket) ?? 0;
      if (before > 0 && socket.bytesRead === before) this.#errors.add(error);
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
