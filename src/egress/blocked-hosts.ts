import { bareHost } from "../lib/hosts.ts";
import { effectiveAddresses, isOwnAddress } from "./address-rules.ts";
import type { Resolve } from "./resolve.ts";

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
