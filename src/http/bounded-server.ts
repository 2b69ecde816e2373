import { randomUUID } from "node:crypto";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Duplex } from "node:stream";
import { LIMITS } from "../limits/catalogue.ts";
import { PROBLEMS } from "./problem.ts";

/** What the clients of a server may keep open, and for how long. */
export interface ServerBounds {
  connections: number;
  /** The headers of a request must have arrived by then; from the first byte, or from the start of a new connection. */
  headersMs: number;
  /** So must the whole request. */
  requestMs: number;
}

const BOUNDS: ServerBounds = {
  connections: LIMITS.openConnections.value,
  headersMs: LIMITS.headersArriveMs.value,
  requestMs: LIMITS.requestArrivesMs.value,
};

/** Between two looks of Node's at connections that are too slow. */
const MAX_CHECK_MS = 10_000;

/**
 * Returns a server that is not listening yet. What is malformed or too slow gets a problem, and a connection beyond the
 * most is closed, with the event `drop`. A response may begin before its request has arrived (`leaveEarly`).
 */
export function createBoundedServer(listener: RequestListener, bounds: ServerBounds = BOUNDS): Server {
  const { connections, headersMs, requestMs } = bounds;
  const serve: RequestListener = (request, response) => {
    // Behind a request whose response says that the connection is closed.
    if (isClosing(request.socket)) return;
    noteRequest(request, response);
    leaveEarly(request, response);
    if (!rejectHost(request, response)) listener(request, response);
  };
  const server = createServer(
    {
      // With a response of ours.
      requireHostHeader: false,
      maxHeaderSize: LIMITS.headBytes.value,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(MAX_CHECK_MS, headersMs / 2),
    },
    serve,
  );
  // Node would respond by itself. An expectation that is not known is none.
  server.on("checkExpectation", serve);
  server.maxConnections = connections;
  server.on("clientError", rejectMalformed);
  return server;
}

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
const noteRequest = (request: IncomingMessage, response: ServerResponse): void => {
  latest.set(request.socket, { request, response });
};

/**
 * Responds to an HTTP request that is malformed, or too slow, or has headers that are too large, with a problem like any
 * other (docs/design.md#errors). This is the `clientError` listener of the server: Node rejects such a request, mostly
 * before the app sees it. A request before it on the same connection gets its own response first.
 */
function rejectMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
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
function rejectHost(request: IncomingMessage, response: ServerResponse): boolean {
  const fault = hostFault(request);
  if (fault === undefined) return false;
  const { status, title, headers, body } = rejection("invalid", fault);
  response.writeHead(status, title, headers).end(body);
  return true;
}

const MAX_DRAINED_BYTES = LIMITS.drainedBytes.value;
const DRAIN_MS = LIMITS.drainMs.value;

const closing = new WeakSet<Duplex>();

/** True for a connection that takes no further request. */
const isClosing = (socket: Duplex): boolean => closing.has(socket);

/**
 * Makes a response that may begin before all of its request has arrived, which a rejection does, harmless to the next request
 * on its connection (docs/decisions/0052-one-door-for-bytes.md): what is left of a small body passes by, and after a large one,
 * or one of unknown length, the connection is closed, as the response says. For a response whose head is not sent yet.
 */
function leaveEarly(request: IncomingMessage, response: ServerResponse): void {
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
function closeGently(socket: Duplex, last = ""): void {
  if (closing.has(socket)) return;
  closing.add(socket);
  socket.end(last);
  const timer = setTimeout(() => socket.destroy(), DRAIN_MS).unref();
  socket.once("close", () => clearTimeout(timer));
}
