import { promises as dns } from "node:dns";
import { isIP } from "node:net";
import { EgressError } from "./egress-error.ts";

/** All addresses of a name, IPv4 first; throws EgressError `dns`. */
export type Resolve = (host: string) => Promise<string[]>;

/** Enough to fail over; a name with hundreds of addresses must not mean hundreds of attempts. */
const MAX_ADDRESSES = 8;

/**
 * Names with a dot are asked of the DNS server by c-ares: `getaddrinfo` would hold one of libuv's four threads, so
 * that a few dead name servers stopped the lookups (and file access) of the whole process. What DNS does not know
 * (`/etc/hosts`, search domains) and single labels go to `getaddrinfo` after all. `asked` is a resolver with name servers of its own.
 */
export function createResolver(timeoutMs: number, asked?: dns.Resolver): Resolve {
  const resolver = asked ?? new dns.Resolver({ timeout: Math.max(250, Math.floor(timeoutMs / 2)), tries: 2 });
  return async host => {
    if (isIP(host)) return [host];
    const name = host.toLowerCase().replace(/\.$/, "");
    // RFC 6761: never asked of a name server, which could answer anything.
    if (name === "localhost" || name.endsWith(".localhost")) return ["127.0.0.1", "::1"];
    const found = name.includes(".") ? await askDns(resolver, name) : await askSystem(name);
    if (found.length === 0) throw new EgressError("dns", `${host} has no address`);
    return found.slice(0, MAX_ADDRESSES);
  };
}

async function askDns(resolver: dns.Resolver, name: string): Promise<string[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = [v4, v6].flatMap(answer => (answer.status === "fulfilled" ? answer.value : []));
  if (found.length > 0) return found;
  const failure = [v4, v6].find(answer => answer.status === "rejected");
  const code = (failure?.reason as { code?: string } | undefined)?.code ?? "";
  if (code === "ETIMEOUT" || code === "ESERVFAIL") {
    throw new EgressError("dns", `the name server did not answer for ${name}`, failure?.reason);
  }
  return askSystem(name);
}

async function askSystem(name: string): Promise<string[]> {
  try {
    const found = await dns.lookup(name, { all: true });
    return found.sort((a, b) => a.family - b.family).map(entry => entry.address);
  } catch (cause) {
    throw new EgressError("dns", `${name} is not a known host name`, cause);
  }
}
