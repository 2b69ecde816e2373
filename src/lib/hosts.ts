/** Returns the host of a URL as sockets and lists of addresses know it: an IPv6 address without its brackets. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, "");

/** Returns true for a host name of a URL that is this machine. */
export const isLoopback = (hostname: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);

/** Path below which the web process receives requests for sources; no API path begins with it. */
export const INGRESS_PREFIX = "/in";

/** Returns the URL below which the endpoints of all sources are: `INGRESS_URL`, else `PUBLIC_URL`. */
export const ingressBase = ({
  config,
}: {
  config: { ingressUrl?: string | undefined; publicUrl: string };
}): string => config.ingressUrl ?? config.publicUrl;
