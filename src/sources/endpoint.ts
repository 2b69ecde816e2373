import type { Platform } from "../platform.ts";

/** Where the web process takes requests for sources; no API path begins like this. */
export const INGRESS_PREFIX = "/in";

/** The public address of a source's HTTP interface; null without one. */
export function endpointUrl(platform: Pick<Platform, "config">, endpoint: string | null): string | null {
  return endpoint === null ? null : `${platform.config.publicUrl}${INGRESS_PREFIX}/${endpoint}`;
}
