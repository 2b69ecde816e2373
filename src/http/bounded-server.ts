import { createServer, type RequestListener, type Server } from "node:http";
import { LIMITS } from "../limits/catalogue.ts";
import { rejectMalformed } from "./reject-malformed.ts";

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
 * most is closed, with the event `drop`.
 */
export function createBoundedServer(listener: RequestListener, bounds: ServerBounds = BOUNDS): Server {
  const { connections, headersMs, requestMs } = bounds;
  const server = createServer(
    {
      maxHeaderSize: LIMITS.headBytes.value,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(MAX_CHECK_MS, headersMs / 2),
    },
    listener,
  );
  server.maxConnections = connections;
  server.on("clientError", rejectMalformed);
  return server;
}
