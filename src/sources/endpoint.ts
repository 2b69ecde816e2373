import type { Platform } from "../platform.ts";

/** Path below which the web process receives requests for sources; no API path begins with it. */
export const INGRESS_PREFIX = "/in";

/** Returns the public URL of a source's HTTP interface; null if it has none. */
export function endpointUrl(platform: Pick<Platform, "config">, endpoint: string | null): string | null {
  return endpoint === null ? null : `${platform.config.publicUrl}${INGRESS_PREFIX}/${endpoint}`;
}
