import mongoose, { type Connection } from "mongoose";
import { checkClockSkew } from "./clock-skew.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

const TIMEOUT_MS = 5000;
const MIN_MAJOR = 6;
/** Below both, MongoDB soon stops. */
const MIN_FREE = { share: 0.1, bytes: 2 * 1024 ** 3 };
const GB = 1024 ** 3;

/** Checks MongoDB: reached, version, replica set with a primary, disk space, clock. */
export async function checkMongodb(url: string): Promise<Finding[]> {
  const connection = mongoose.createConnection(url, { serverSelectionTimeoutMS: TIMEOUT_MS });
  try {
    await connection.asPromise();
    return await checkServer(connection);
  } catch (error) {
    const reason = (error as Error).message.replace(/\s+/g, " ");
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
  return [
    Number.parseInt(version, 10) >= MIN_MAJOR
      ? ok("MongoDB", `version ${version}`)
      : problem("MongoDB", `version ${version} is too old`, `install MongoDB ${MIN_MAJOR}.0 or newer`),
    checkReplicaSet(hello),
    await checkDisk(connection),
    clock,
  ];
}

function checkReplicaSet(hello: { setName?: string; isWritablePrimary?: boolean }): Finding {
  const check = "replica set";
  if (!hello.setName) {
    const advice = "start mongod with --replSet and call rs.initiate()";
    return problem(check, "MongoDB is not a replica set, so it has no transactions", advice);
  }
  if (hello.isWritablePrimary) return ok(check, `${hello.setName} has a primary`);
  return problem(check, `${hello.setName} has no primary that takes writes`, "look at rs.status()");
}

async function checkDisk(connection: Connection): Promise<Finding> {
  const check = "disk of MongoDB";
  const { fsUsedSize, fsTotalSize } = (await connection.db?.stats()) ?? {};
  if (!fsTotalSize)
    return note(check, "MongoDB does not say how full it is", "watch the disk by other means");
  const free = fsTotalSize - fsUsedSize;
  const text = `${(free / GB).toFixed(1)} of ${(fsTotalSize / GB).toFixed(1)} GB free`;
  const isFull = free / fsTotalSize < MIN_FREE.share && free < MIN_FREE.bytes;
  return isFull
    ? problem(check, text, "free space or enlarge it: MongoDB stops when it is full")
    : ok(check, text);
}
