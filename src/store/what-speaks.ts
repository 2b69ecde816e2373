import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { RedisServer } from "./redis-url.ts";

const TIMEOUT_MS = 1000;

/** Returns true if a TLS connection to the server can be opened, whatever its certificate. Nothing is sent over it. */
export const speaksTls = ({ host, port }: RedisServer): Promise<boolean> =>
  outcome(connectTls({ host, port, rejectUnauthorized: false }), "secureConnect", () => true);

/** Returns true if the server responds as a Redis does to a command in the clear, if only that it wants a password. */
export function speaksRedis({ host, port }: RedisServer): Promise<boolean> {
  const socket = connect({ host, port }, () => void socket.write("PING\r\n"));
  return outcome(socket, "data", data => /^(\+PONG|-[A-Z]+ )/.test(String(data)));
}

/** Resolves with what `judge` says of the event, and with false after an error or if the server says nothing. */
function outcome(socket: Socket, event: string, judge: (data: unknown) => boolean): Promise<boolean> {
  return new Promise(resolve => {
    const timer = setTimeout(() => end(false), TIMEOUT_MS);
    const end = (is: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(is);
    };
    socket.on(event, data => end(judge(data)));
    for (const failure of ["error", "close"]) socket.on(failure, () => end(false));
  });
}
