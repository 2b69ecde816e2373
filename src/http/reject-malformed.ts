import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { closeGently, isClosing } from "./leave-early.ts";
import { PROBLEMS } from "./problem.ts";

const DETAILS = {
  invalid: "malformed HTTP request",
  "headers-too-large": "the request line and the headers are too large",
  "too-slow": "the request took too long to arrive",
};
type Code = keyof typeof DETAILS;

/** Returns the kind of problem for an error of Node's HTTP server. */
function codeOf(error: NodeJS.ErrnoException): Code {
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return "too-slow";
  return error.code === "HPE_HEADER_OVERFLOW" ? "headers-too-large" : "invalid";
}

/** The connection ends with such a response, because it is unknown where the next request begins. */
function rejection(code: Code, detail: string) {
  const { status, title } = PROBLEMS[code];
  const body = JSON.stringify({ type: `/docs/errors#${code}`, title, status, detail, error: detail });
  const headers = {
    Connection: "close",
    "Content-Type": "application/problem+json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    "X-Request-Id": randomUUID(),
  };
  return { status, title, headers, body };
}

/** Returns a rejection as it is on the wire. */
function onWire(code: Code): string {
  const { status, title, headers, body } = rejection(code, DETAILS[code]);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${[`HTTP/1.1 ${status} ${title}`, ...lines].join("\r\n")}\r\n\r\n${body}`;
}

/** The latest request of a connection. */
const latest = new WeakMap<Duplex, { request: IncomingMessage; response: ServerResponse }>();

/** Notes that a request has arrived. */
export const noteRequest = (request: IncomingMessage, response: ServerResponse): void => {
  latest.set(request.socket, { request, response });
};

/**
 * Responds to an HTTP request that is malformed, or too slow, or has headers that are too large, with a problem like any
 * other (docs/design.md#errors). This is the `clientError` listener of the server: Node rejects such a request, mostly
 * before the app sees it. A request before it on the same connection gets its own response first.
 */
export function rejectMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (isClosing(socket)) return;
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = codeOf(error);
  const reject = () => closeGently(socket, onWire(code));
  const before = latest.get(socket);
  if (!before || before.response.writableFinished) reject();
  else if (before.request.complete) before.response.once("finish", reject);
  else if (before.response.headersSent) socket.destroy();
  else reject();
}

/** Returns what is wrong with the `Host` of a request, which decides what is served (docs/design.md#browsers); undefined if nothing is. */
function hostFault({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.length === 4 && /^host$/i.test(name));
  if (hosts.length > 1) return "the request has more than one Host header";
  return hosts.length === 0 && httpVersion === "1.1" ? "the request has no Host header" : undefined;
}

/** Rejects a request whose `Host` is not one; returns false for any other. */
export function rejectHost(request: IncomingMessage, response: ServerResponse): boolean {
  const fault = hostFault(request);
  if (fault === undefined) return false;
  const { status, title, headers, body } = rejection("invalid", fault);
  response.writeHead(status, title, headers).end(body);
  return true;
}
