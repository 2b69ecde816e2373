import type { IncomingHttpHeaders } from "node:http";
import ipaddr from "ipaddr.js";
import type Koa from "koa";
import type { Context } from "koa";

/**
 * Returns the address of the client. With `TRUST_PROXY`, that is the last one in `X-Forwarded-For`, which our own proxy
 * saw; clients can forge the ones before it.
 */
export const clientAddress = (ctx: Context): string => ctx.ips.at(-1) ?? ctx.ip;

/**
 * Returns the key under which a client is counted: its IPv4 address, or its /64 network, because an IPv6 client usually
 * controls all of it.
 */
export function clientKey(address: string): string {
  if (!ipaddr.isValid(address)) return "unknown";
  const client = ipaddr.process(address);
  if (client.kind() === "ipv4") return client.toString();
  return client.toByteArray().slice(0, 8).join("-");
}

/**
 * Makes an app believe what our own proxy says of a request (`TRUST_PROXY`): the client's address and the protocol. The host
 * stays the request's own, because most proxies pass a client's `X-Forwarded-Host` on, and the host decides what is served
 * (docs/design.md#browsers).
 */
export function trustProxy(app: Koa): void {
  app.proxy = true;
  Object.defineProperty(app.request, "host", {
    get(this: Koa.Request) {
      return this.get("host");
    },
  });
}

/** Returns the headers of a request as they were before our proxy added the client's address and the protocol. */
export function beforeProxy(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { "x-forwarded-for": addresses, "x-forwarded-proto": _, ...others } = headers;
  const before = String(addresses ?? "")
    .split(",")
    .slice(0, -1)
    .join(",");
  return before === "" ? others : { ...others, "x-forwarded-for": before };
}
