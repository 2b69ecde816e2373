import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

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
