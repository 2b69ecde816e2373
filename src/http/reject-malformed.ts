import { randomUUID } from "node:crypto";
import type { Duplex } from "node:stream";
import { PROBLEMS } from "./problem.ts";

const DETAILS = {
  invalid: "malformed HTTP request",
  "headers-too-large": "the request line and the headers are too large",
  "too-slow": "the request took too long to arrive",
};

/** Returns the kind of problem for an error of Node's HTTP server. */
function codeOf(error: NodeJS.ErrnoException): keyof typeof DETAILS {
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return "too-slow";
  return error.code === "HPE_HEADER_OVERFLOW" ? "headers-too-large" : "invalid";
}

/**
 * Responds to an HTTP request that is malformed, or too slow, or has headers that are too large, with a problem like any
 * other (docs/design.md#errors). This is the `clientError` listener of the server: Node rejects such a request, mostly
 * before the app sees it. The connection is closed, because it is unknown where the next request begins.
 */
export function rejectMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = codeOf(error);
  const { status, title } = PROBLEMS[code];
  const detail = DETAILS[code];
  const body = JSON.stringify({ type: `/docs/errors#${code}`, title, status, detail, error: detail });
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    "Connection: close",
    "Content-Type: application/problem+json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${randomUUID()}`,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
