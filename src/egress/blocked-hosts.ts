import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import { reachedAddresses } from "./address-rules.ts";
import type { Resolve } from "./resolve.ts";

/** A store of the platform itself. */
export interface NeverHost {
  host: string;
  port: number;
}

/** The stores, or who they are at this moment. */
export type NeverHostsOption = readonly NeverHost[] | (() => readonly NeverHost[]);

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
 * listen on every one of them. While a store's name can't be resolved, its port is denied altogether. A function is
 * asked at each connection: members of a replica set or a cluster come and go.
 */
export function createNeverHosts(given: NeverHostsOption, resolve: Resolve): NeverHosts {
  const hostsOn = (port: number) =>
    (typeof given === "function" ? given() : given).filter(host => host.port === port).map(bareName);
  const known = new Map<string, { addresses: Set<string> | undefined; at: number }>();

  async function refreshOne(name: string): Promise<void> {
    const last = known.get(name);
    if (last && Date.now() - last.at < FRESH_MS) return;
    const addresses = await resolve(name).then(
      found => new Set(found.flatMap(reachedAddresses)),
      () => last?.addresses,
    );
    known.set(name, { addresses, at: Date.now() });
  }

  return {
    async refresh(port) {
      await Promise.all(hostsOn(port).map(refreshOne));
    },
    deny(ip, port) {
      const reached = reachedAddresses(ip);
      return hostsOn(port).some(name => {
        const addresses = known.get(name)?.addresses;
        if (!addresses || reached.length === 0) return true;
        const isLocal = [...addresses].some(isOwn);
        return reached.some(one => addresses.has(one) || (isLocal && isOwn(one)));
      });
    },
  };
}

const bareName = ({ host }: NeverHost) => host.replace(/^\[|\]$/g, "").toLowerCase();

function isOwn(ip: string): boolean {
  const range = ipaddr.parse(ip).range();
  if (range === "loopback" || range === "unspecified") return true;
  return Object.values(networkInterfaces()).some(list => list?.some(entry => entry.address === ip));
}
