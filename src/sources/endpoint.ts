import type { Platform } from "../platform.ts";

/** Path below which the web process receives requests for sources; no API path begins with it. */
export const INGRESS_PREFIX = "/in";

/** Returns the URL below which the endpoints of all sources are: `INGRESS_URL`, else `PUBLIC_URL`. */
export const ingressBase = ({ config }: Pick<Platform, "config">): string =>
  config.ingressUrl ?? config.publicUrl;

/** Returns the public URL of a source's HTTP interface; null if it has none. */
export function endpointUrl(platform: Pick<Platform, "config">, endpoint: string | null): string | null {
  return endpoint === null ? null : `${ingressBase(platform)}${INGRESS_PREFIX}/${endpoint}`;
}
