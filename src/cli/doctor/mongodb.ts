import mongoose, { type Connection } from "mongoose";
import { SUPPORTED } from "../../lib/versions.ts";
import { asSetupError, reasonOfAway } from "../../store/mongo-setup.ts";
import type { Database } from "../../store/schema/migration.ts";
import { MIGRATIONS, SCHEMA } from "../../store/schema/migrations.ts";
import { planOf } from "../../store/schema/plan.ts";
import { findState, schemaProblem } from "../../store/schema/state.ts";
import { checkClockSkew, type Finding, judgeProgram, note, ok, problem } from "./finding.ts";

const TIMEOUT_MS = 5000;

/** Checks MongoDB: reached, version, replica set with a primary, disk space, schema, clock. */
export async function checkMongodb(url: string): Promise<Finding[]> {
  const connection = mongoose.createConnection(url, { serverSelectionTimeoutMS: TIMEOUT_MS });
  try {
    await connection.asPromise();
    return await checkServer(connection);
  } catch (error) {
    const fault = asSetupError(error);
    if (fault) return [problem("MongoDB", fault.message, "correct the setting, or that MongoDB")];
    const reason = reasonOfAway(error as Error);
    return [problem("MongoDB", `does not respond: ${reason}`, "start it, or correct MONGODB_URL")];
  } finally {
    await connection.close();
  }
}

async function checkServer(connection: Connection): Promise<Finding[]> {
  const admin = connection.getClient().db().admin();
  const [hello, { version }] = await Promise.all([admin.command({ hello: 1 }), admin.serverInfo()]);
  const clock = await checkClockSkew("MongoDB", async () =>
    Number((await admin.command({ hello: 1 })).localTime),
  );
  const disk = (await connection.db?.stats()) ?? {};
  const schema = connection.db && (await checkSchema(connection.db));
  return [...judgeMongodb({ version, hello, disk }), ...(schema ? [schema] : []), clock];
}

/** Checks whether this release can run on the database's schema, and whether `headwater migrate` has something to do. */
async function checkSchema(db: Database): Promise<Finding> {
  const { state, isEmpty } = await findState(db);
  if (isEmpty) return ok("schema", "the database is empty: the first process sets it up");
  const fault = schemaProblem(state, SCHEMA);
  if (fault !== undefined) {
    return problem("schema", fault, "docs/upgrading.md has the steps of an upgrade");
  }
  const has = `the database has schema ${state.version}, this release needs ${SCHEMA}`;
  if (planOf(state, MIGRATIONS, { isEmpty, mayContract: false }).every(({ step }) => step === "applied"))
    return ok("schema", has);
  return note(
    "schema",
    `${has}; some migrations have not run`,
    "run `headwater migrate --contract` once no process of an older release is running",
  );
}

/** Below both, MongoDB soon stops. */
const MIN_FREE = { share: 0.1, bytes: 2 * 1024 ** 3 };
const GB = 1024 ** 3;

/** What a MongoDB server says of itself. */
export interface MongodbReadings {
  version: string;
  /** Of `hello`. */
  hello: { setName?: string; isWritablePrimary?: boolean };
  /** Of `dbStats`; absent where the server does not say. */
  disk: { fsUsedSize?: number; fsTotalSize?: number };
}

/** Judges a MongoDB server by its readings. Pure. */
export function judgeMongodb({ version, hello, disk }: MongodbReadings): Finding[] {
  return [judgeProgram(SUPPORTED.mongodb, version), judgeReplicaSet(hello), judgeDisk(disk)];
}

function judgeReplicaSet({ setName, isWritablePrimary }: MongodbReadings["hello"]): Finding {
  const check = "replica set";
  if (!setName) {
    const advice = "start mongod with --replSet and call rs.initiate()";
    return problem(check, "MongoDB is not a replica set, so it has no transactions", advice);
  }
  if (isWritablePrimary) return ok(check, `${setName} has a primary`);
  return problem(check, `${setName} has no primary that accepts writes`, "look at rs.status()");
}

function judgeDisk({ fsUsedSize = 0, fsTotalSize }: MongodbReadings["disk"]): Finding {
  const check = "disk of MongoDB";
  if (!fsTotalSize)
    return note(check, "MongoDB does not say how full it is", "watch the disk by other means");
  const free = fsTotalSize - fsUsedSize;
  const text = `${(free / GB).toFixed(1)} of ${(fsTotalSize / GB).toFixed(1)} GB free`;
  const isFull = free / fsTotalSize < MIN_FREE.share && free < MIN_FREE.bytes;
  return isFull
    ? problem(check, text, "free space or enlarge it: MongoDB stops when it is full")
    : ok(check, text);
}
