import mongoose, { type Connection } from "mongoose";
import { SetupError } from "../lib/setup-error.ts";
import { isUntrustedCertificate } from "../lib/untrusted-certificate.ts";

const { MongoServerError } = mongoose.mongo;
/** By name: the driver's parser of URLs has a `MongoParseError` of its own. */
const BAD_URL = new Set([
  ...["MongoParseError", "MongoInvalidArgumentError", "MongoMissingCredentialsError"],
  ...["MongoAPIError", "MongoRuntimeError"],
]);
/** Of a file that the URL names. */
const BAD_FILE = new Set<unknown>(["ENOENT", "EISDIR", "EACCES", "ENOTDIR"]);
const AUTHENTICATION_FAILED = 18;
/** What MongoDB Atlas says for both. */
const ATLAS_ERROR = 8000;
const UNAUTHORIZED = 13;

/** Returns the text in one line, and without what a URL in it has before its hosts. */
const withoutUser = (text: string): string => text.replace(/\/\/[^@\s]*@/g, "//").replace(/\s+/g, " ");

/** Returns what is wrong with the settings or with MongoDB if no later try can help; undefined otherwise. */
export function asSetupError(error: unknown): SetupError | undefined {
  if (error instanceof SetupError) return error;
  const fault = faultOf(error);
  return fault === undefined ? undefined : new SetupError(withoutUser(fault), { cause: error });
}

function faultOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { message } = error;
  if (BAD_URL.has(error.name)) return `MONGODB_URL: ${message}`;
  if (BAD_FILE.has((error as NodeJS.ErrnoException).code)) return `MONGODB_URL: ${message}`;
  if (error instanceof MongoServerError) {
    const isRejected =
      error.code === AUTHENTICATION_FAILED || (error.code === ATLAS_ERROR && /auth/i.test(message));
    if (isRejected) return "MONGODB_URL: MongoDB rejects this user and password";
    if (error.code === UNAUTHORIZED && /requires authentication/.test(message))
      return "MONGODB_URL: MongoDB requires a user and a password, which the URL does not have";
    if (error.code === UNAUTHORIZED) return `MONGODB_URL: the user lacks permissions (${message})`;
  }
  return faultOfServers((error as { reason?: Topology }).reason);
}

/** What the driver knows of the servers that it looked for; it does not export the type. */
export interface Topology {
  type?: string;
  setName?: string | null;
  servers?: ReadonlyMap<string, { type?: string; error?: Error | null }>;
}

/** Returns what is wrong with the URL if that is what the servers show; undefined otherwise. */
export function faultOfServers(reason: Topology | undefined): string | undefined {
  if (!(reason?.servers instanceof Map)) return undefined;
  // The driver removes a server that is of no set, or of another.
  if (reason.servers.size === 0 && reason.type === "ReplicaSetNoPrimary") {
    return `MONGODB_URL: none of its servers belongs to the replica set ${reason.setName ?? "that it names"}`;
  }
  const untrusted = [...reason.servers.values()].map(one => one.error).find(isUntrustedCertificate);
  if (!untrusted) return undefined;
  return `MONGODB_URL: the certificate of MongoDB is not trusted (${untrusted.message}): set tlsCAFile in the URL`;
}

const hostsOf = ({ servers }: Topology): string => [...(servers?.keys() ?? [])].join(", ");

/** Returns true if every server that was found is one of a replica set that does not exist yet. */
export const isUninitiated = ({ servers }: Topology): boolean =>
  servers !== undefined && servers.size > 0 && [...servers.values()].every(({ type }) => type === "RSGhost");

/** Returns what is to be done about such servers. */
export const uninitiated = (hosts: string): string =>
  `the replica set of ${hosts} is not initiated: run rs.initiate() there, once, in mongosh`;

/** Whether what responded under the names of the URL says that it is to be reached under others. */
function isUnderOtherNames({ type, servers }: Topology, url: string): boolean {
  const [, seeds] = /^mongodb:\/\/(?:[^@/]*@)?([^/?]+)/.exec(url.trim()) ?? [];
  if (type !== "ReplicaSetNoPrimary" || seeds === undefined) return false;
  const named = new Set(seeds.split(",").map(seed => (/:\d+$/.test(seed) ? seed : `${seed}:27017`)));
  return [...(servers?.keys() ?? [])].every(server => !named.has(server));
}

/** Returns why MongoDB did not respond, in one line that names the servers. */
export function reasonOfAway(error: Error, url: string): string {
  const { reason } = error as { reason?: Topology };
  const hosts = reason?.servers instanceof Map ? hostsOf(reason) : "";
  if (reason && isUninitiated(reason)) return uninitiated(hosts);
  if (reason && hosts && isUnderOtherNames(reason, url))
    return `the replica set ${reason.setName} calls its members ${hosts}, which can't be reached from here (${withoutUser(error.message)}): make these names known, or add directConnection=true for a set of one member`;
  // What mongoose guesses from a connection over TLS that was closed.
  if (/not accepting SSL/.test(error.message))
    return `${hosts} closed the connection: is it a MongoDB server with TLS?`;
  if (/^connection .* closed$/.test(error.message))
    return `${hosts} closed the connection: is it a MongoDB server without TLS?`;
  if (hosts && /^Server selection timed out/.test(error.message))
    return `${hosts} did not respond like a MongoDB server`;
  return withoutUser(error.message);
}

/** Returns true if the names of a `mongodb+srv://` URL could not be looked up, which may pass. */
export const isUnresolved = (error: unknown): boolean =>
  /^query(Srv|Txt)$/.test(String((error as { syscall?: unknown }).syscall));

/** What a server says of itself (`hello`). */
interface Hello {
  /** Of a router of a sharded cluster, which names no set. */
  msg?: string;
  setName?: string;
  isreplicaset?: boolean;
  arbiterOnly?: boolean;
  secondary?: boolean;
  hosts?: string[];
  /** Members that never become primary. */
  passives?: string[];
  me?: string;
}

/**
 * Throws SetupError for a server of no replica set, which has no transactions, and for one member of a set that takes no
 * writes and that the URL names alone; an error for a set that is not initiated yet.
 */
export async function rejectUnusableServer(connection: Connection): Promise<void> {
  const hello: Hello = await connection.getClient().db("admin").command({ hello: 1 });
  if (hello.msg === "isdbgrid") return;
  if (hello.arbiterOnly)
    throw new SetupError(`MONGODB_URL: ${hello.me} is an arbiter, which stores nothing: ${WHOLE_SET}`);
  // A set of one member is a secondary for the moments before it elects itself.
  if (hello.secondary && [...(hello.hosts ?? []), ...(hello.passives ?? [])].length > 1)
    throw new SetupError(`MONGODB_URL: ${hello.me} is a secondary, which takes no writes: ${WHOLE_SET}`);
  if (hello.setName) return;
  if (hello.isreplicaset) throw new Error(`MONGODB_URL: ${uninitiated(connection.host)}`);
  throw new SetupError(
    "MONGODB_URL: MongoDB is not a replica set, so it has no transactions: start mongod with --replSet and call rs.initiate()",
  );
}

const WHOLE_SET = "name all members of the replica set, with replicaSet=NAME and without directConnection";
