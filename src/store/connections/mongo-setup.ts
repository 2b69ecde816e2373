import mongoose, { type Connection } from "mongoose";
import { isUntrustedCertificate, SetupError } from "../../lib/errors.ts";
import { withDeadline } from "../../lib/time.ts";

const { MongoServerError } = mongoose.mongo;
/** By name: the driver's parser of URLs has a `MongoParseError` of its own. */
const BAD_URL = new Set([
  ...["MongoParseError", "MongoInvalidArgumentError", "MongoMissingCredentialsError"],
  ...["MongoAPIError", "MongoRuntimeError"],
]);
/** Of a file that the URL names. */
const BAD_FILE = new Set<unknown>(["ENOENT", "EISDIR", "EACCES", "ENOTDIR"]);
const AUTHENTICATION_FAILED = 18;
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
    if (error.code === AUTHENTICATION_FAILED) return "MONGODB_URL: MongoDB rejects this user and password";
    if (error.code === UNAUTHORIZED) return `MONGODB_URL: the user lacks permissions (${message})`;
  }
  return faultOfServers(error);
}

/** What the driver knows of the servers that it looked for; it does not export the type. */
interface Topology {
  type?: string;
  setName?: string | null;
  servers?: ReadonlyMap<string, { error?: Error | null }>;
}

function faultOfServers(error: Error): string | undefined {
  const { reason } = error as { reason?: Topology };
  if (!(reason?.servers instanceof Map)) return undefined;
  // The driver removes a server that is of no set, or of another.
  if (reason.servers.size === 0 && reason.type === "ReplicaSetNoPrimary") {
    return `MONGODB_URL: none of its servers belongs to the replica set ${reason.setName ?? "that it names"}`;
  }
  const untrusted = [...reason.servers.values()].map(one => one.error).find(isUntrustedCertificate);
  if (!untrusted) return undefined;
  return `MONGODB_URL: the certificate of MongoDB is not trusted (${untrusted.message}): set tlsCAFile in the URL`;
}

/** Returns why MongoDB did not respond, in one line that names the servers. */
export function reasonOfAway(error: Error): string {
  const { reason } = error as { reason?: Topology };
  const hosts = reason?.servers instanceof Map ? [...reason.servers.keys()].join(", ") : "";
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

/** Throws SetupError for a server of no replica set, which has no transactions. */
export async function rejectWithoutReplicaSet(connection: Connection): Promise<void> {
  const hello = await connection.getClient().db("admin").command({ hello: 1 });
  // A router of a sharded cluster names no set.
  if (hello.setName || hello.msg === "isdbgrid") return;
  throw new SetupError(
    "MONGODB_URL: MongoDB is not a replica set, so it has no transactions: start mongod with --replSet and call rs.initiate()",
  );
}

/** A write is tested at most this often, however often a load balancer asks. Milliseconds. */
const EVERY_MS = 3000;
/** A test write that hangs counts as failed for those who ask after it, too. */
const DEADLINE_MS = 1800;

interface LastWrite {
  atMs: number;
  result: Promise<unknown>;
}

const lastWrites = new WeakMap<Connection, LastWrite>();

/**
 * Rejects with what is wrong if MongoDB takes no writes: it is away, has no primary, or its disk is full or locked, which
 * `ping` and `hello` don't show. The write is tested at most every 3 seconds; the rest at each call.
 */
export async function probeMongo(mongo: Connection): Promise<void> {
  if (!mongo.db) throw new Error("not connected");
  const hello = await mongo.db.admin().command({ hello: 1 });
  if (!hello.isWritablePrimary) throw new Error("no primary");
  let last = lastWrites.get(mongo);
  if (!last || performance.now() - last.atMs >= EVERY_MS) {
    last = { atMs: performance.now(), result: withDeadline(writeProbe(mongo.db), DEADLINE_MS) };
    // The callers receive the error; without a caller it must not be unhandled.
    last.result.catch(() => undefined);
    lastWrites.set(mongo, last);
  }
  await last.result;
}

/**
 * Throws SetupError for a user who may not write. Whatever else keeps MongoDB from writing now may pass, and shows in
 * `/readyz`.
 */
export async function rejectReadOnlyUser({ db }: Connection): Promise<void> {
  if (!db) throw new Error("not connected");
  try {
    await withDeadline(writeProbe(db), DEADLINE_MS);
  } catch (error) {
    const setup = asSetupError(error);
    if (setup) throw setup;
  }
}

/** As durable as every other write: a full disk shows when the journal is written. */
function writeProbe(db: NonNullable<Connection["db"]>): Promise<unknown> {
  return db
    .collection<{ _id: string; at: Date }>("probes")
    .updateOne(
      { _id: "write" },
      { $set: { at: new Date() } },
      { upsert: true, writeConcern: { w: "majority", journal: true } },
    );
}
