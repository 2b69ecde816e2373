import { isIP } from "node:net";
import type { Config } from "../config.ts";
import { mayConnect, parseCidrs } from "../egress/address-rules.ts";
import { checkUrl } from "../egress/check-url.ts";
import { bareHost } from "../lib/bare-host.ts";
import { invalidField } from "../lib/errors.ts";

/**
 * Checks the url of a webhook and returns it. An IP address that is not public, or localhost, is rejected here, so
 * that the owner learns of it before the first event. Any host name is checked at each connection
 * (docs/design.md#egress-guard).
 * `location` is the part of the request that has the url. Throws `invalid` for the field `url`.
 */
export function checkWebhookUrl(
  config: Pick<Config, "egressAllow">,
  location: "query" | "body",
  url: string,
): string {
  const { hostname } = checkUrl(url, { in: location, path: "url" });
  const host = bareHost(hostname);
  const address = /(^|\.)localhost\.?$/i.test(host) ? "127.0.0.1" : host;
  if (isIP(address) === 0) return url;
  const rules = { allow: parseCidrs(config.egressAllow), deny: () => false };
  if (!mayConnect(rules, address, 0)) {
    throw invalidField(location, "url", `${host} is not a public address, and EGRESS_ALLOW does not list it`);
  }
  return url;
}
