import { isIP } from "node:net";
import type { Config } from "../config.ts";
import { mayConnect, parseCidrs } from "../egress/address-rules.ts";
import { checkUrl } from "../egress/check-url.ts";
import { type FieldError, invalidField } from "../lib/errors.ts";
import { bareHost } from "../lib/hosts.ts";

/**
 * Checks the url of a webhook and returns it. `location` is the part of the request that has the url. Throws `invalid` for
 * the field `url`, also for an address that is not public.
 */
export function checkWebhookUrl(
  config: Pick<Config, "egressAllow">,
  location: "query" | "body",
  url: string,
): string {
  const field = { in: location, path: "url" } as const;
  checkPublicHost(config, checkUrl(url, field).hostname, field);
  return url;
}

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

interface Address {
  url: string;
  /** Names of the secrets that it has. */
  secrets: readonly string[];
}

interface Given {
  /** Absent if the request leaves it as it is. */
  url: string | undefined;
  /** Names of the secrets that the request gives. */
  secrets: readonly string[];
}

/**
 * Returns the names of the secrets that a webhook or a destination loses with its present address: the url of another
 * server removes those that the same request does not give again, because who changes the url would learn them
 * there. The same server is the same scheme, host and port.
 */
export const lostSecrets = (before: Address, { url, secrets }: Given): string[] =>
  url === undefined || serverOf(url) === serverOf(before.url)
    ? []
    : before.secrets.filter(name => !secrets.includes(name));

/** A url that can't be read is another one; it is rejected later. */
function serverOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { protocol, host } = new URL(url);
  return `${protocol}//${host.toLowerCase()}`;
}
