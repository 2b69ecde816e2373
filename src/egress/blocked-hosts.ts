import { promises as dns } from "node:dns";
import { isIP } from "node:net";
import { bareHost } from "../lib/hosts.ts";
import { effectiveAddresses, isOwnAddress } from "./address-rules.ts";
import { EgressError } from "./egress-error.ts";

/** The host and port of one of the platform's own stores. */
export interface BlockedHost {
  host: string;
  port: number;
}

/** The stores, or a function that returns the current ones: members of a replica set or a cluster come and go. */
export type BlockedHostsOption = readonly BlockedHost[] | (() => readonly BlockedHost[]);

/** How long a store's addresses are used before they are resolved again, so that a failover is noticed soon. */
const FRESH_MS = 10_000;

/**
 * Blocks connections to the platform's own stores (docs/design.md#egress-guard). They are compared by address, so that
 * another name or another spelling of an address does not get past. If a store runs on this machine, its port is denied
 * on all addresses of the machine, because the store may listen on any of them. While a store's name can't be resolved,
 * its port is denied for every address.
 */
export class BlockedHosts {
  readonly #option: BlockedHostsOption;
  readonly #resolve: Resolve;
  readonly #known = new Map<string, { addresses: Set<string> | undefined; at: number }>();

  constructor(option: BlockedHostsOption, resolve: Resolve) {
    this.#option = option;
    this.#resolve = resolve;
  }

  /** Resolves the stores on this port again if their addresses are out of date. */
  async refresh(port: number): Promise<void> {
    await Promise.all(this.#namesOn(port).map(name => this.#refreshName(name)));
  }

  /** Returns true if a connection to this address and port would reach a store. Call `refresh` for the port first. */
  denies(ip: string, port: number): boolean {
    const targets = effectiveAddresses(ip);
    return this.#namesOn(port).some(name => {
      const addresses = this.#known.get(name)?.addresses;
      if (!addresses || targets.length === 0) return true;
      const isLocal = [...addresses].some(isOwnAddress);
      return targets.some(target => addresses.has(target) || (isLocal && isOwnAddress(target)));
    });
  }

  #namesOn(port: number): string[] {
    const hosts = typeof this.#option === "function" ? this.#option() : this.#option;
    return hosts.filter(host => host.port === port).map(bareName);
  }

  async #refreshName(name: string): Promise<void> {
    const last = this.#known.get(name);
    if (last && Date.now() - last.at < FRESH_MS) return;
    const addresses = await this.#resolve(name).then(
      found => new Set(found.flatMap(effectiveAddresses)),
      () => last?.addresses,
    );
    this.#known.set(name, { addresses, at: Date.now() });
  }
}

const bareName = ({ host }: BlockedHost) => bareHost(host).toLowerCase();

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
