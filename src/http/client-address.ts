import ipaddr from "ipaddr.js";
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
