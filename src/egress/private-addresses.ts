import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * A host and a port that an operator has opened to code with a certain connection (docs/connections.md#private-addresses). The
 * host is an IP address in canonical form, or a name in lower case.
 */
export interface PrivateAddress {
  host: string;
  port: number;
}

const TEXT = /^(?:\[(?<ipv6>[\da-f:.]{2,45})\]|(?<name>[\w.-]{1,253})):(?<port>[1-9]\d{0,4})$/i;
const LABEL = /^[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?$/;
/** Ends in what some parsers read as a part of an IPv4 address, such as `0x7f.1`. */
const LIKE_A_NUMBER = /(?:^|\.)(?:\d+|0x[\da-f]*)$/;
/** A name may mean an address in these: never the machine itself, a link, or what clouds serve their metadata at. */
const NETWORKS = new Set(["private", "uniqueLocal", "carrierGradeNat"]);
const OPENABLE = new Set([...NETWORKS, "loopback", "unicast"]);

/**
 * Parses `10.0.0.5:5432`, `[fd00::5]:5432` or `db.internal:5432`. Throws an Error whose message says what is wrong with it, to follow
 * the name of a field.
 */
export function parsePrivateAddress(text: string): PrivateAddress {
  const { ipv6, name = "", port } = TEXT.exec(text)?.groups ?? {};
  if (!(Number(port) <= 65_535)) throw new Error("must be host:port, such as 10.0.0.5:5432");
  return { host: ipv6 === undefined ? checkedHost(name.toLowerCase()) : checkedIp(ipv6), port: Number(port) };
}

function checkedHost(name: string): string {
  if (isIP(name) !== 0) return checkedIp(name);
  const isName = name.split(".").every(label => LABEL.test(label)) && !LIKE_A_NUMBER.test(name);
  if (!isName) throw new Error("must have an IP address or a host name before the port");
  if (name === "localhost" || name.endsWith(".localhost")) {
    throw new Error("must have the IP address of this machine, not its name");
  }
  return name;
}

function checkedIp(text: string): string {
  if (isIP(text) === 0) throw new Error("must have an IP address in the brackets");
  const ip = ipaddr.parse(text);
  if (!OPENABLE.has(ip.range())) throw new Error(`must not have an address of the kind ${ip.range()}`);
  return ip.toString();
}

/** Returns the text that `parsePrivateAddress` reads; equal addresses have equal texts. */
export const showPrivateAddress = ({ host, port }: PrivateAddress): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;

/** A connection that code asks for: to one of the addresses that its host has now. */
export interface Asked {
  /** As the code named it, without brackets. */
  host: string;
  port: number;
  ip: string;
  isOwn: (ip: string) => boolean;
}

/**
 * Returns true if one of the addresses is what code asks for. An IP address is itself, by whatever name it was found. A name is what it
 * is resolved to now, within private networks and not this machine: who changes the name gains nothing else.
 */
export function isOpened(opened: readonly PrivateAddress[], { host, port, ip, isOwn }: Asked): boolean {
  if (!opened.some(address => address.port === port) || isIP(ip) === 0 || ip.includes("%")) return false;
  const arrived = ipaddr.parse(ip);
  const name = host.toLowerCase().replace(/\.$/, "");
  const mayBeNamed = NETWORKS.has(arrived.range()) && !isOwn(ip);
  return opened.some(
    one => one.port === port && (one.host === arrived.toString() || (mayBeNamed && one.host === name)),
  );
}
