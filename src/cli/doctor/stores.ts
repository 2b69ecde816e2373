import mongoose, { type Connection } from "mongoose";
import { SetupError } from "../../lib/errors.ts";
import { SUPPORTED } from "../../lib/versions.ts";
import { findRedis } from "../../store/connections/find-redis.ts";
import { asSetupError, reasonOfAway } from "../../store/connections/mongo-setup.ts";
import { readMemoryShare } from "../../store/connections/probe-redis.ts";
import {
  fieldOf,
  infoOfMasters,
  openProducerRedis,
  type RedisClient,
  whenReady,
} from "../../store/connections/redis.ts";
import type { RedisSettings, RedisTarget } from "../../store/connections/redis-url.ts";
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
    return await checkMongoServer(connection);
  } catch (error) {
    const fault = asSetupError(error);
    if (fault) return [problem("MongoDB", fault.message, "correct the setting, or that MongoDB")];
    const reason = reasonOfAway(error as Error);
    return [problem("MongoDB", `does not respond: ${reason}`, "start it, or correct MONGODB_URL")];
  } finally {
    await connection.close();
  }
}

async function checkMongoServer(connection: Connection): Promise<Finding[]> {
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

const ADVICE = "start it, or correct REDIS_URL";

/** Checks Redis: reached, version, eviction, append-only file, memory, clock. */
export async function checkRedis(settings: RedisSettings): Promise<Finding[]> {
  let target: RedisTarget;
  try {
    target = await findRedis(settings, TIMEOUT_MS);
  } catch (error) {
    const advice = error instanceof SetupError ? "correct the setting, or that Redis" : ADVICE;
    return [problem("Redis", (error as Error).message, advice)];
  }
  const redis = openProducerRedis(target);
  redis.on("error", () => undefined);
  try {
    await whenReady(redis, TIMEOUT_MS);
    return await checkRedisServer(redis);
  } catch (error) {
    return [problem("Redis", (error as Error).message, ADVICE)];
  } finally {
    redis.disconnect();
  }
}

async function checkRedisServer(redis: RedisClient): Promise<Finding[]> {
  const infos = await infoOfMasters(redis);
  const clock = await checkClockSkew("Redis", async () => {
    const [seconds, microseconds] = await redis.time();
    return Number(seconds) * 1000 + Number(microseconds) / 1000;
  });
  return [...judgeRedis(infos, await readMemoryShare(redis)), clock];
}

const MAX_MEMORY_SHARE = 0.8;

/** Judges what each Redis server says of itself (`INFO`), and the share of its memory that is used. Pure. */
export function judgeRedis(infos: string[], memoryShare: number): Finding[] {
  const field = (name: string) => infos.map(info => fieldOf(info, name) ?? "");
  return [
    judgeVersions(field("redis_version")),
    judgeEviction(field("maxmemory_policy")),
    judgeAppendOnlyFile(field("aof_enabled"), field("aof_last_write_status")),
    judgeMemory(memoryShare, field("maxmemory")),
  ];
}

function judgeVersions(versions: string[]): Finding {
  const found = versions.map(version => judgeProgram(SUPPORTED.redis, version));
  const worst = found.find(({ severity }) => severity === "problem") ?? found.find(({ advice }) => advice);
  return worst ?? ok("Redis", `version ${versions[0]}`);
}

function judgeEviction(policies: string[]): Finding {
  const evicting = policies.find(policy => policy !== "noeviction");
  if (evicting === undefined) return ok("eviction", "noeviction");
  const message = `Redis may delete accepted work: maxmemory-policy is ${evicting}`;
  return problem("eviction", message, "set maxmemory-policy to noeviction, in redis.conf too");
}

function judgeAppendOnlyFile(enabled: string[], lastWrites: string[]): Finding {
  const check = "append-only file";
  if (enabled.some(value => value !== "1")) {
    const advice = "set appendonly to yes, in redis.conf too";
    return problem(check, "is off: a restart of Redis loses accepted work", advice);
  }
  if (lastWrites.every(status => status === "ok")) return ok(check, "is on");
  const advice =
    "look at the log of Redis; if its disk was full, run redis-cli BGREWRITEAOF before it restarts";
  return problem(check, "could not be written", advice);
}

function judgeMemory(share: number, limits: string[]): Finding {
  const check = "memory of Redis";
  const text = `${Math.round(share * 100)} % used`;
  if (share > MAX_MEMORY_SHARE) {
    return problem(check, text, "raise maxmemory, or find what waits: a full Redis accepts nothing");
  }
  if (limits.every(limit => Number(limit) > 0)) return ok(check, text);
  const advice = "set maxmemory, so that Redis rejects work before the kernel kills it";
  return note(check, `${text} of the machine's, without a limit`, advice);
}
