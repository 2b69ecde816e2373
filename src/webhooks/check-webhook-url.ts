import { isIP } from "node:net";
import type { Config } from "../config.ts";
import { mayConnect, parseCidrs } from "../egress/address-rules.ts";
import { checkUrl } from "../egress/check-url.ts";
import { invalidField } from "../lib/errors.ts";

/**
 * Checks a url that events shall be sent to. An address that is plainly not public is refused here already, so that its
 * owner hears of it before the first event; the guard itself is at each connection (design.md, "Egress guard").
 * Throws `invalid` naming the field.
 */
export function checkWebhookUrl(
  config: Pick<Config, "egressAllow">,
  where: "query" | "body",
  url: string,
): string {
  const { hostname } = checkUrl(url, { in: where, path: "url" });
  const host = hostname.replace(/^\[|\]$/g, "");
  const address = /(^|\.)localhost\.?$/i.test(host) ? "127.0.0.1" : host;
  if (isIP(address) === 0) return url;
  const rules = { allow: parseCidrs(config.egressAllow), deny: () => false };
  if (!mayConnect(rules, address, 0)) {
    throw invalidField(where, "url", `${host} is not a public address, and EGRESS_ALLOW does not list it`);
  }
  return url;
}
