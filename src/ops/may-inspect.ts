import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import { isSameSecret } from "../lib/same-secret.ts";

/** Proxies add one of these; a request that has none and comes from this machine was not forwarded. */
const FORWARDED = ["x-forwarded-for", "forwarded", "x-real-ip", "via"];

function isLocal({ socket, headers }: IncomingMessage): boolean {
  const address = socket.remoteAddress ?? "";
  if (!ipaddr.isValid(address) || ipaddr.process(address).range() !== "loopback") return false;
  return FORWARDED.every(name => headers[name] === undefined);
}

/** Returns true if a request carries `METRICS_TOKEN` as its bearer token. */
export function hasToken({ headers }: IncomingMessage, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  return given !== undefined && isSameSecret(given, token);
}

/**
 * Returns true if a request to the web process may read metrics and what is not ready (docs/design.md#configuration): with
 * `METRICS_TOKEN`, or from this machine itself if no token is set.
 */
export function mayInspect(request: IncomingMessage, token: string | undefined): boolean {
  return token === undefined ? isLocal(request) : hasToken(request, token);
}

/** The same for a worker's own port, which is not for the public: without a token set, anybody who can reach it. */
export function mayInspectWorker(request: IncomingMessage, token: string | undefined): boolean {
  return token === undefined || hasToken(request, token);
}
