import type { Config } from "../config.ts";
import { checkUrl } from "../egress/check-url.ts";
import { checkPublicHost } from "./check-public-host.ts";

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
