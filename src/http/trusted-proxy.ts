import type { IncomingHttpHeaders } from "node:http";
import type Koa from "koa";

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
