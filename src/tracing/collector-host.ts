import { bareHost } from "../lib/hosts.ts";

/**
 * Returns where the collector listens, for the egress guard, which keeps deliveries and component code from it as from the
 * stores: they could otherwise write spans of their own. None without an endpoint.
 */
export function collectorHosts({
  endpoint,
}: {
  endpoint: string | undefined;
}): { host: string; port: number }[] {
  if (endpoint === undefined) return [];
  const { hostname, port, protocol } = new URL(endpoint);
  return [{ host: bareHost(hostname), port: Number(port) || (protocol === "https:" ? 443 : 80) }];
}
