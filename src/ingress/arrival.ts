import type { Context } from "koa";
import { readBytes } from "../http/body.ts";
import { beforeProxy, clientAddress } from "../http/client-address.ts";
import { withoutSessionCookie } from "../http/session-cookie.ts";
import { ingressBase } from "../lib/hosts.ts";
import type { Stores } from "../platform.ts";
import type { Enqueue } from "./enqueue.ts";
import { type HttpEvent, httpEvent, type RawRequest } from "./http-event.ts";
import type { IngressShares } from "./ingress-shares.ts";
import { MAX_BODY_BYTES } from "./response.ts";

/** A request at an endpoint, and what it uses of this process. */
export interface Arrival {
  ctx: Context;
  /** What follows the endpoint. */
  path: string;
  enqueue: Enqueue;
  shares: IngressShares;
}

/**
 * Reads a request within the account's shares, and calls `accept` with its event, in the account's turn if its body is large. Its
 * body is not kept afterwards. Throws as `readBytes` and `httpEvent` do, `rate-limited`, `unavailable` and what `accept` throws.
 */
export async function withEvent(
  platform: Stores,
  arrival: Arrival,
  account: string,
  accept: (event: HttpEvent) => Promise<void>,
): Promise<void> {
  const { ctx, shares } = arrival;
  let held = 0;
  try {
    const body = await readBytes(ctx.req, {
      maxBytes: MAX_BODY_BYTES,
      keepsUnknown: true,
      count: bytes => {
        shares.bytes.hold(account, bytes);
        held += bytes;
      },
    });
    await shares.handleBody(account, body.length, async () =>
      accept(await httpEvent(rawRequest(platform, arrival, body))),
    );
  } finally {
    if (held > 0) shares.bytes.release(account, held);
  }
}

/** The sender's own: without what our proxy added, and without the cookies of our own sessions. */
function headersOf({ config }: Stores, { headers }: Context): RawRequest["headers"] {
  const own = config.trustProxy ? beforeProxy(headers) : headers;
  return own.cookie ? { ...own, cookie: withoutSessionCookie(own.cookie) } : own;
}

const rawRequest = (platform: Stores, { ctx, path }: Arrival, body: Buffer): RawRequest => ({
  method: ctx.method,
  path,
  // Not `ctx.URL`, which is empty if the Host header is invalid.
  search: new URLSearchParams(ctx.search),
  headers: headersOf(platform, ctx),
  body,
  url: `${ingressBase(platform)}${ctx.path}${ctx.search}`,
  clientIp: clientAddress(ctx),
});
