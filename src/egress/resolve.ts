import { promises as dns } from "node:dns";
import { isIP } from "node:net";
import { EgressError } from "./egress-error.ts";

/** Returns all addresses of a host name, IPv4 first. Throws EgressError `dns`. */
export type Resolve = (host: string) => Promise<string[]>;

/** Enough to fail over, while a name with hundreds of addresses does not cause hundreds of attempts. */
const MAX_ADDRESSES = 8;

/**
 * Returns a function that looks up a name with a dot in DNS first, through c-ares: `getaddrinfo` would hold one of
 * libuv's four threads, so that a few dead name servers could stop the lookups and the file access of the whole
 * process. Names that DNS does not know (`/etc/hosts`, search domains) and names without a dot are passed to
 * `getaddrinfo`. `dnsResolver` replaces the default resolver, which asks the system's name servers.
 */
export function createResolver(timeoutMs: number, dnsResolver?: dns.Resolver): Resolve {
  const resolver =
    dnsResolver ?? new dns.Resolver({ timeout: Math.max(250, Math.floor(timeoutMs / 2)), tries: 2 });
  return async host => {
    if (isIP(host)) return [host];
    const name = host.toLowerCase().replace(/\.$/, "");
    // RFC 6761: such names must not be looked up in DNS, where a name server could return any address.
    if (name === "localhost" || name.endsWith(".localhost")) return ["127.0.0.1", "::1"];
    const found = name.includes(".") ? await resolveByDns(resolver, name) : await resolveBySystem(name);
    if (found.length === 0) throw new EgressError("dns", `${host} has no address`);
    return found.slice(0, MAX_ADDRESSES);
  };
}

async function resolveByDns(resolver: dns.Resolver, name: string): Promise<string[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = [v4, v6].flatMap(result => (result.status === "fulfilled" ? result.value : []));
  if (found.length > 0) return found;
  const failure = [v4, v6].find(result => result.status === "rejected");
  const code = (failure?.reason as { code?: string } | undefined)?.code ?? "";
  if (code === "ETIMEOUT" || code === "ESERVFAIL") {
    throw new EgressError("dns", `the name server did not respond for ${name}`, failure?.reason);
  }
  return resolveBySystem(name);
}

async function resolveBySystem(name: string): Promise<string[]> {
  try {
    const found = await dns.lookup(name, { all: true });
    return found.sort((a, b) => a.family - b.family).map(entry => entry.address);
  } catch (cause) {
    throw new EgressError("dns", `${name} is not a known host name`, cause);
  }
}
