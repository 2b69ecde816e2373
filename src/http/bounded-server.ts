import { createServer, type RequestListener, type Server } from "node:http";
import { LIMITS } from "../limits/catalogue.ts";
import { isClosing, leaveEarly } from "./leave-early.ts";
import { noteRequest, rejectHost, rejectMalformed } from "./reject-malformed.ts";

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
