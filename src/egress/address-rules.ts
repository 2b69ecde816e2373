import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import { invalidField } from "../lib/errors.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A network: its address and the length of its prefix in bits. */
export type Cidr = readonly [Address, number];

/** What outgoing connections may reach. */
export interface AddressRules {
  /** May be reached although it is not public, or an address of this machine. */
  allow: readonly Cidr[];
  /** The platform's own stores, and networks that are blocked by a setting. Overrides `allow`. */
  deny: (ip: string, port: number) => boolean;
  /** What is open to the code that asks, and to no other. */
  isOpened?: (ip: string) => boolean;
  /** This machine's own addresses: what listens on all of them is normally behind a firewall that this would pass. */
  isOwn?: (ip: string) => boolean;
}

/** All public IPv6 unicast addresses are in 2000::/3. Ranges that IANA has not assigned yet stay blocked. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");
/**
 * Azure's metadata and DNS service has a public address. The metadata services of other clouds are in ranges that are
 * blocked anyway.
 */
const PUBLIC_METADATA = ["168.63.129.16"];
/** Prefixes whose last 32 bits are an IPv4 address: mapped, compatible, translated, NAT64. */
const EMBEDDED_IPV4 = ["::ffff:0:0/96", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48"].map(
  net => ipaddr.IPv6.parseCIDR(net),
);
const SIX_TO_FOUR = ipaddr.IPv6.parseCIDR("2002::/16");

/**
 * Parses the CIDRs of an allow list. An address without a prefix length means that single address.
 * Throws AppError `invalid` that names the first invalid entry.
 */
export function parseCidrs(list: readonly string[]): Cidr[] {
  return list.map(entry => {
    const [address = "", prefix] = entry.split("/");
    if (isIP(address) === 0 || address.includes("%")) throw invalidField("env", entry, "is not a CIDR");
    const parsed = ipaddr.parse(address);
    const longest = parsed.kind() === "ipv4" ? 32 : 128;
    const bits = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
    if (bits < 0 || bits > longest) throw invalidField("env", entry, "is not a CIDR");
    return [parsed, bits] as const;
  });
}

/**
 * Returns a function that returns whether a port is in a list of ports and ranges (`25`, `135-139`); the entry `none`
 * means no port. Throws AppError `invalid` that names the first invalid entry.
 */
export function portsIn(list: readonly string[]): (port: number) => boolean {
  const ranges = list
    .filter(entry => entry !== "none")
    .map(entry => {
      const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(entry) ?? [];
      const range = [Number(first), Number(last)] as const;
      if (!(range[0] >= 1 && range[0] <= range[1] && range[1] <= 65_535)) {
        throw invalidField("env", entry, "is not a port or a range of ports");
      }
      return range;
    });
  return port => ranges.some(([first, last]) => port >= first && port <= last);
}

/**
 * Returns true only for public unicast addresses (docs/design.md#egress-guard). Special-purpose and unassigned ranges
 * do not count as public, nor does an IPv4 address embedded in an IPv6 address, because a router may extract it.
 */
export function isPublicAddress(ip: string): boolean {
  const address = parseStrict(ip);
  if (address?.range() !== "unicast") return false;
  if (address instanceof ipaddr.IPv4) return !PUBLIC_METADATA.includes(address.toString());
  return address.match(GLOBAL_IPV6) && !isIsatap(address);
}

/** Returns true if `rules` permit a connection to this address and port. */
export function mayConnect(rules: AddressRules, ip: string, port: number): boolean {
  if (rules.deny(ip, port)) return false;
  if (isInside(rules.allow, ip) || rules.isOpened?.(ip)) return true;
  return isPublicAddress(ip) && !rules.isOwn?.(ip);
}

/** Returns true if a packet to `ip` may arrive in one of the networks, also as an IPv4 address embedded in an IPv6 one. */
export function mayArriveIn(networks: readonly Cidr[], ip: string): boolean {
  return effectiveAddresses(ip).some(address => isInside(networks, address));
}

/**
 * Returns every address that a packet to `ip` may arrive at, in canonical form: the address itself and the IPv4 address
 * embedded in it. Returns an empty array if `ip` is not an IP address.
 */
export function effectiveAddresses(ip: string): string[] {
  const address = parseStrict(ip);
  if (!address) return [];
  const embedded = address instanceof ipaddr.IPv6 ? embeddedIpv4(address) : undefined;
  return embedded === undefined ? [address.toString()] : [address.toString(), embedded];
}

function embeddedIpv4(address: ipaddr.IPv6): string | undefined {
  const bytes = address.toByteArray();
  if (address.match(SIX_TO_FOUR)) return bytes.slice(2, 6).join(".");
  const isEmbedded = isIsatap(address) || EMBEDDED_IPV4.some(([net, bits]) => address.match(net, bits));
  return isEmbedded ? bytes.slice(12).join(".") : undefined;
}

/** RFC 5214: under any prefix, an IPv4 address follows an interface identifier of `0:5efe` or `200:5efe`. */
function isIsatap(address: ipaddr.IPv6): boolean {
  return ((address.parts[4] ?? 0) & ~0x200) === 0 && address.parts[5] === 0x5efe;
}

function isInside(networks: readonly Cidr[], ip: string): boolean {
  const address = parseStrict(ip);
  return (
    !!address && networks.some(([net, bits]) => net.kind() === address.kind() && address.match(net, bits))
  );
}

/** Rejects what ipaddr.js would accept, such as `0x7f.1` or `010.0.0.1`: parsers disagree on which host these mean. */
function parseStrict(ip: string): Address | undefined {
  return isIP(ip) === 0 || ip.includes("%") ? undefined : ipaddr.parse(ip);
}

/** Interfaces rarely change, and reading them takes a system call for each. */
const FRESH_MS = 5000;

let known: { addresses: Set<string>; at: number } | undefined;

function interfaceAddresses(): Set<string> {
  if (known && Date.now() - known.at < FRESH_MS) return known.addresses;
  const listed = Object.values(networkInterfaces()).flatMap(list => list ?? []);
  // An address of a link has its zone at the end.
  const addresses = new Set(
    listed.map(({ address }) => ipaddr.parse(address.replace(/%.*$/, "")).toString()),
  );
  known = { addresses, at: Date.now() };
  return addresses;
}

/** Returns true if packets to this IP address, in canonical form, arrive at this machine. */
export function isOwnAddress(ip: string): boolean {
  const range = ipaddr.parse(ip).range();
  return range === "loopback" || range === "unspecified" || interfaceAddresses().has(ip);
}
