import { isIP } from "node:net";
import type { Config } from "../config.ts";
import { mayConnect, parseCidrs } from "../egress/address-rules.ts";
import { bareHost } from "../lib/bare-host.ts";
import { type FieldError, invalidField } from "../lib/errors.ts";

/**
 * Rejects an IP address that is not public, or localhost, so that the owner learns of it before the first event. Any host
 * name is checked at each connection (docs/design.md#egress-guard). Throws `invalid` that names `field`.
 */
export function checkPublicHost(
  config: Pick<Config, "egressAllow">,
  hostname: string,
  field: Pick<FieldError, "in" | "path">,
): void {
  const host = bareHost(hostname);
  const address = /(^|\.)localhost\.?$/i.test(host) ? "127.0.0.1" : host;
  if (isIP(address) === 0) return;
  const rules = { allow: parseCidrs(config.egressAllow), deny: () => false };
  if (!mayConnect(rules, address, 0)) {
    throw invalidField(
      field.in,
      field.path,
      `${host} is not a public address, and EGRESS_ALLOW does not list it`,
    );
  }
}
