import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { LIMITS } from "../limits/catalogue.ts";

const MAX_DRAINED_BYTES = LIMITS.drainedBytes.value;
const DRAIN_MS = LIMITS.drainMs.value;

const closing = new WeakSet<Duplex>();

/** True for a connection that takes no further request. */
export const isClosing = (socket: Duplex): boolean => closing.has(socket);

/**
 * Makes a response that may begin before all of its request has arrived, which a rejection does, harmless to the next request
 * on its connection (docs/decisions/0052-one-door-for-bytes.md): what is left of a small body passes by, and after a large one,
 * or one of unknown length, the connection is closed, as the response says. For a response whose head is not sent yet.
 */
export function leaveEarly(request: IncomingMessage, response: ServerResponse): void {
  const { writeHead } = response;
  response.writeHead = (...head: unknown[]) => {
    response.writeHead = writeHead;
    if (!request.complete) leave(request, response);
    return Reflect.apply(writeHead, response, head) as ServerResponse;
  };
}

function leave(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  const length = Number(request.headers["content-length"] ?? Number.NaN);
  // A client that waits to be told to go on may leave out the body, or send it.
  const isSmall = length <= MAX_DRAINED_BYTES && request.headers.expect === undefined;
  if (!isSmall) response.setHeader("Connection", "close");
  // What Node calls after the last response of a connection.
  socket.destroySoon = () => closeGently(socket);
  request.unpipe();
  request.removeAllListeners("data");
  request.resume();
  response.once("finish", () => {
    if (request.complete || isClosing(socket)) return;
    const timer = setTimeout(() => socket.destroy(), DRAIN_MS).unref();
    request.once("end", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
  });
}

/**
 * Sends `last` and ends a connection. What the client still sends passes by until it has seen the end, or for `drainMs`:
 * to close at once would reset the connection, and its client might never read the response.
 */
export function closeGently(socket: Duplex, last = ""): void {
  if (closing.has(socket)) return;
  closing.add(socket);
  socket.end(last);
  const timer = setTimeout(() => socket.destroy(), DRAIN_MS).unref();
  socket.once("close", () => clearTimeout(timer));
}
