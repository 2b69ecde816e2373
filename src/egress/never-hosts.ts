import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import { canonicalAddress } from "./address-rules.ts";
import type { Resolve } from "./resolve.ts";

/** A store of the platform itself. */
export interface NeverHost {
  host: string;
  port: number;
}

export interface NeverHosts {
  /** Brings the addresses of the stores on this port up to date; cheap when none is on it. */
  refresh(port: number): Promise<void>;
  /** Never connect there, whatever the allow list says. */
  deny(ip: string, port: number): boolean;
}

/** How long a store's addresses are believed: a failover to another address is caught soon. */
const FRESH_MS = 10_000;

/**
 * Keeps the platform's own stores out of reach (design.md, "Egress guard"), by address, so that another name or
 * spelling of theirs does not pass. A store on this machine is denied on all addresses of the machine, since it may
 * listen on every one of them. While a store's name can't be resolved, its port is denied altogether.
 */
export function createNeverHosts(hosts: readonly NeverHost[], resolve: Resolve): NeverHosts {
  const known = new Map<NeverHost, { addresses: Set<string> | undefined; at: number }>();

  async function refreshOne(host: NeverHost): Promise<void> {
    const last = known.get(host);
    if (last && Date.now() - last.at < FRESH_MS) return;
    const addresses = await resolve(host.host.replace(/^\[|\]$/g, "")).then(
      found => new Set(found.map(ip => canonicalAddress(ip) ?? ip)),
      () => last?.addresses,
    );
    known.set(host, { addresses, at: Date.now() });
  }

  return {
    async refresh(port) {
      await Promise.all(hosts.filter(host => host.port === port).map(refreshOne));
    },
    deny(ip, port) {
      const wanted = canonicalAddress(ip);
      return hosts.some(host => {
        if (host.port !== port) return false;
        const addresses = known.get(host)?.addresses;
        if (!addresses || wanted === undefined) return true;
        return addresses.has(wanted) || (isOwn(wanted) && [...addresses].some(isOwn));
      });
    },
  };
}

function isOwn(ip: string): boolean {
  const range = ipaddr.parse(ip).range();
  if (range === "loopback" || range === "unspecified") return true;
  return Object.values(networkInterfaces()).some(list => list?.some(entry => entry.address === ip));
}
