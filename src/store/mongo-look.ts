import type mongoose from "mongoose";
import { SetupError } from "../lib/setup-error.ts";
import { faultOfServers, isUninitiated, type Topology, uninitiated } from "./mongo-setup.ts";
import { whatSpeaks } from "./what-speaks.ts";

/** A server that starts needs a moment before it serves; by then it says what it is. Milliseconds. */
const LOOK_AFTER_MS = 3000;

type Client = mongoose.mongo.MongoClient;

/** What looks at the servers once that no client could connect to for a while. */
export interface Look {
  /** Learns from this client what the servers say. */
  follow(client: Client): void;
  /**
   * Rejects if waiting can't help: with SetupError if the servers are not what the URL says, and with another error if their
   * replica set is not initiated, which may still happen.
   */
  fault: Promise<never>;
  stop(): void;
}

export function lookIfSlow(): Look {
  let known: Topology = {};
  let isTls = false;
  let timer: NodeJS.Timeout | undefined;
  const fault = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      faultOf(known, isTls).then(found => found && reject(found), reject);
    }, LOOK_AFTER_MS);
  });
  // It may be found when the connection is there already.
  fault.catch(() => undefined);
  return {
    fault,
    follow(client) {
      isTls = client.options.tls === true;
      client.on("topologyDescriptionChanged", ({ newDescription }: { newDescription: Topology }) => {
        // Each client begins with servers of which it knows nothing, and ends without any.
        if (saysSomething(newDescription)) known = newDescription;
      });
    },
    stop: () => clearTimeout(timer),
  };
}

const saysSomething = ({ type, servers = new Map() }: Topology): boolean =>
  servers.size === 0
    ? type !== "Unknown"
    : [...servers.values()].some(server => server.type !== "Unknown" || server.error);

async function faultOf(known: Topology, isTls: boolean): Promise<Error | undefined> {
  const hosts = [...(known.servers?.keys() ?? [])];
  if (isUninitiated(known)) return new Error(`MONGODB_URL: ${uninitiated(hosts.join(", "))}`);
  const fault = faultOfServers(known);
  if (fault !== undefined) return new SetupError(fault);
  const faults = await Promise.all(hosts.map(host => faultOfProtocol(host, isTls)));
  return faults.find(fault => fault !== undefined);
}

async function faultOfProtocol(host: string, isTls: boolean): Promise<SetupError | undefined> {
  const speaks = await whatSpeaks(partsOf(host));
  if (speaks === "TLS" && !isTls)
    return new SetupError(`MONGODB_URL: ${host} speaks TLS: add tls=true to the URL`);
  if (speaks === "MongoDB" && isTls)
    return new SetupError(`MONGODB_URL: ${host} does not speak TLS: the URL must have tls=false`);
  if (speaks === "Redis" || speaks === "HTTP")
    return new SetupError(`MONGODB_URL: ${host} is not a MongoDB server: it speaks ${speaks}`);
  return undefined;
}

/** Parts of an address as the driver writes it, an IPv6 address in brackets or not. */
function partsOf(address: string): { host: string; port: number } {
  const at = address.lastIndexOf(":");
  return { host: address.slice(0, at).replace(/^\[(.*)\]$/, "$1"), port: Number(address.slice(at + 1)) };
}
