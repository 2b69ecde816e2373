import type { Socket } from "node:net";
import { EgressError } from "../egress/egress-error.ts";
import type { Kept } from "../egress/lasting-connections.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Destination } from "../models/webhook.ts";
import type { Outbound, Stores } from "../platform.ts";
import { timeoutMsOf } from "../webhooks/delivery-settings.ts";

/**
 * Does `work` with the destination's connection, within the time of an attempt. A connection over which nothing came in that
 * time is closed: what waits behind would wait in vain. Throws EgressError `timeout`, and the signal's reason if it aborts.
 */
export async function onConnection<Connection extends Kept, Result>(
  platform: Stores & Outbound,
  {
    destination,
    signal,
  }: {
    destination: Pick<Destination, "_id" | "settings" | "url" | "timeout_seconds">;
    signal: AbortSignal | undefined;
  },
  open: () => Promise<Connection>,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const timeoutMs = timeoutMsOf(platform.config, destination);
  const { _id: id, settings: version, url } = destination;
  const used = platform.lastingConnections.use({ id, version }, open, work);
  // It is awaited no longer after a time-out or an abort.
  used.catch(() => undefined);
  let stop: (() => void) | undefined;
  const stopped = new Promise<never>((_, reject) => {
    const onAbort = () => reject(signal?.reason);
    const timer = setTimeout(() => {
      reject(new EgressError("timeout", `${new URL(url).host} did not respond within ${timeoutMs} ms`));
      platform.lastingConnections.drop(id);
    }, timeoutMs);
    stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
  });
  try {
    return await Promise.race([used, stopped]);
  } finally {
    stop?.();
  }
}

/** Bounds what a server of an account sends over a lasting connection: it may send without end. */
export class ReceivedBound {
  readonly #socket: Socket;
  #most = LIMITS.destinationReplyBytes.value;

  /** Calls `onMore` when more has come than is allowed. `event`: that of the socket by which its owner reads. */
  constructor(socket: Socket, event: "data" | "readable", onMore: () => void) {
    this.#socket = socket;
    socket.on(event, () => {
      if (socket.bytesRead > this.#most) onMore();
    });
  }

  /** Allows one reply from now on, however much has come so far. */
  allowReply(): void {
    this.#most = this.#socket.bytesRead + LIMITS.destinationReplyBytes.value;
  }

  /** Allows one reply more, and that so many bytes come back. */
  allowReturned(bytes: number): void {
    this.#most += bytes + LIMITS.destinationReplyBytes.value;
  }
}
