import type { IncomingMessage } from "node:http";
import { isSameSecret } from "../lib/ids.ts";

/** Returns true if a request carries `METRICS_TOKEN` as its bearer token. */
export function hasToken({ headers }: IncomingMessage, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  return given !== undefined && isSameSecret(given, token);
}

/**
 * Returns true if a request to the web process may read metrics and what is not ready (docs/design.md#configuration): only with
 * `METRICS_TOKEN`. A peer on this machine proves nothing, because it may be a proxy.
 */
export function mayInspect(request: IncomingMessage, token: string | undefined): boolean {
  return token !== undefined && hasToken(request, token);
}

/** The same for a worker's own port, which is not for the public: without a token set, anybody who can reach it. */
export function mayInspectWorker(request: IncomingMessage, token: string | undefined): boolean {
  return token === undefined || hasToken(request, token);
}
