import type { Socket } from "node:net";
import { LIMITS } from "../limits/catalogue.ts";

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
