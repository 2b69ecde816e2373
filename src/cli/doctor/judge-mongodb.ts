import { SUPPORTED } from "../../lib/supported-versions.ts";
import { type Finding, note, ok, problem } from "./finding.ts";
import { judgeProgram } from "./judge-program.ts";

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
