import { randomUUID } from "node:crypto";
import type { Duplex } from "node:stream";
import { PROBLEMS } from "./problem.ts";

/** What Node's parser gives up on, before there is a request that the app could response. */
function codeOf(error: NodeJS.ErrnoException): "headers-too-large" | "invalid" {
  return error.code === "HPE_HEADER_OVERFLOW" ? "headers-too-large" : "invalid";
}

/**
 * Answers a request that is no HTTP, or whose head is too large, with a problem like any other (design.md, "Errors");
 * a server's `clientError` listener. The connection ends, since where the next request begins is unknown.
 */
export function rejectMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = codeOf(error);
  const { status, title } = PROBLEMS[code];
  const detail = code === "invalid" ? "the request is no HTTP" : "the request line and headers are too large";
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
