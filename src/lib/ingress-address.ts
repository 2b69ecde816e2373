/** Path below which the web process receives requests for sources; no API path begins with it. */
export const INGRESS_PREFIX = "/in";

/** Returns the URL below which the endpoints of all sources are: `INGRESS_URL`, else `PUBLIC_URL`. */
export const ingressBase = ({
  config,
}: {
  config: { ingressUrl?: string | undefined; publicUrl: string };
}): string => config.ingressUrl ?? config.publicUrl;
