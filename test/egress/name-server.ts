import { createSocket } from "node:dgram";
import { promises as dns } from "node:dns";
import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/** The addresses of each name, IPv4 and IPv6, or a function that returns them for each question. */
export type Zone = Record<string, string[] | (() => string[])>;

export interface NameServer {
  /** A resolver that uses this server only. */
  resolver: dns.Resolver;
  /** The names that were looked up, one entry for each question. */
  lookups: string[];
  close(): Promise<void>;
}

const A = 1;
const AAAA = 28;
const NAME_ERROR = 3;

/** Starts a real name server on a free UDP port of loopback. Names that are not in the zone do not exist. */
export async function startNameServer(zone: Zone): Promise<NameServer> {
  const lookups: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const { name, type, end } = readQuestion(query);
    lookups.push(name);
    const known = zone[name];
    const addresses = (typeof known === "function" ? known() : (known ?? [])).filter(
      type === A ? isIPv4 : type === AAAA ? isIPv6 : () => false,
    );
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180 | (known ? 0 : NAME_ERROR), 2);
    header.writeUInt16BE(addresses.length, 6);
    header.fill(0, 8);
    socket.send(
      Buffer.concat([header, query.subarray(12, end), ...addresses.map(ip => record(ip, type))]),
      from.port,
    );
  });
  await new Promise<void>(done => socket.bind(0, "127.0.0.1", done));
  const resolver = new dns.Resolver({ timeout: 1000, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    resolver,
    lookups,
    close: () => new Promise(done => socket.close(done)),
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** A record with a time to live of 0, so that it is not cached. */
function record(ip: string, type: number): Buffer {
  const bytes = ipaddr.parse(ip).toByteArray();
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, Buffer.from(bytes)]);
}
