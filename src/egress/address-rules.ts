import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { invalidField } from "../lib/errors.ts";

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
/** Azure's metadata and DNS service has an address in public space; all other clouds' lie in ranges that are shut. */
const PUBLIC_METADATA = ["168.63.129.16"];
/** Where the last 32 bits of an IPv6 address are an IPv4 address: mapped, compatible, translated, NAT64. */
const WRAPPED_IPV4 = ["::ffff:0:0/96", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48"].map(
  net => ipaddr.IPv6.parseCIDR(net),
);
const SIX_TO_FOUR = ipaddr.IPv6.parseCIDR("2002::/16");

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
  if (address instanceof ipaddr.IPv4) return !PUBLIC_METADATA.includes(address.toString());
  return address.match(GLOBAL_IPV6) && !isIsatap(address);
}

/** True when `rules` let a connection go to this address and port. */
export function mayConnect(rules: AddressRules, ip: string, port: number): boolean {
  if (rules.deny(ip, port)) return false;
  return isPublicAddress(ip) || isAllowed(rules.allow, ip);
}

/**
 * Every address that a packet to `ip` may end at, each in one spelling: itself, and the IPv4 address it wraps.
 * Empty when `ip` is no address.
 */
export function reachedAddresses(ip: string): string[] {
  const address = parseStrict(ip);
  if (!address) return [];
  const inner = address instanceof ipaddr.IPv6 ? wrappedIpv4(address) : undefined;
  return inner === undefined ? [address.toString()] : [address.toString(), inner];
}

function wrappedIpv4(address: ipaddr.IPv6): string | undefined {
  const bytes = address.toByteArray();
  if (address.match(SIX_TO_FOUR)) return bytes.slice(2, 6).join(".");
  const isWrapped = isIsatap(address) || WRAPPED_IPV4.some(([net, bits]) => address.match(net, bits));
  return isWrapped ? bytes.slice(12).join(".") : undefined;
}

/** RFC 5214: under any prefix, an interface id of `0:5efe` or `200:5efe` is followed by an IPv4 address. */
function isIsatap(address: ipaddr.IPv6): boolean {
  return ((address.parts[4] ?? 0) & ~0x200) === 0 && address.parts[5] === 0x5efe;
}

function isAllowed(allow: readonly Cidr[], ip: string): boolean {
  const address = parseStrict(ip);
  return !!address && allow.some(([net, bits]) => net.kind() === address.kind() && address.match(net, bits));
}

/** Not ipaddr's own leniency: `0x7f.1` or `010.0.0.1` mean different hosts to different parsers. */
function parseStrict(ip: string): Address | undefined {
  return isIP(ip) === 0 || ip.includes("%") ? undefined : ipaddr.parse(ip);
}
