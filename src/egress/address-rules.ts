import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { invalidField } from "../errors.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A network: its address and the length of its prefix. */
export type Cidr = readonly [Address, number];

/** What one way out may connect to. `deny` wins over everything: the platform's own stores. */
export interface AddressRules {
  allow: readonly Cidr[];
  deny: (ip: string, port: number) => boolean;
}

/** All public IPv6 unicast lies in 2000::/3; whatever IANA has not handed out yet stays shut. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Reads the CIDRs of an allow list; a bare address means that one address.
 * Throws AppError `invalid` with the entry that can't be read.
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
 * True only for public unicast (design.md, "Egress guard"): every other range, known or not yet handed out,
 * is refused, and so is an IPv4 address wrapped in IPv6, because a router may unwrap it.
 */
export function isPublicAddress(ip: string): boolean {
  const address = parseStrict(ip);
  if (address?.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_IPV6);
}

/** True when `rules` let a connection go to this address and port. */
export function mayConnect(rules: AddressRules, ip: string, port: number): boolean {
  if (rules.deny(ip, port)) return false;
  return isPublicAddress(ip) || isAllowed(rules.allow, ip);
}

/** One spelling for one address: an IPv4-mapped IPv6 address as the IPv4 address that it reaches. */
export function canonicalAddress(ip: string): string | undefined {
  const address = parseStrict(ip);
  if (!address) return undefined;
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) {
    return address.toIPv4Address().toString();
  }
  return address.toString();
}

function isAllowed(allow: readonly Cidr[], ip: string): boolean {
  const address = parseStrict(ip);
  return !!address && allow.some(([net, bits]) => net.kind() === address.kind() && address.match(net, bits));
}

/** Not ipaddr's own leniency: `0x7f.1` or `010.0.0.1` mean different hosts to different parsers. */
function parseStrict(ip: string): Address | undefined {
  return isIP(ip) === 0 || ip.includes("%") ? undefined : ipaddr.parse(ip);
}
