import { Cluster } from "ioredis";
import { SetupError } from "../../lib/setup-error.ts";
import { findRedis } from "../../store/find-redis.ts";
import { readMemoryShare } from "../../store/probe-redis.ts";
import { openProducerRedis, type RedisClient, whenReady } from "../../store/redis.ts";
import type { RedisSettings, RedisTarget } from "../../store/redis-settings.ts";
import { checkClockSkew } from "./clock-skew.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

const TIMEOUT_MS = 5000;
const ADVICE = "start it, or correct REDIS_URL";
const MIN_VERSION: [major: number, minor: number] = [6, 2];
const MAX_MEMORY_SHARE = 0.8;

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
    return await checkServer(redis);
  } catch (error) {
    return [problem("Redis", (error as Error).message, ADVICE)];
  } finally {
    redis.disconnect();
  }
}

async function checkServer(redis: RedisClient): Promise<Finding[]> {
  const infos = await infoOf(redis);
  const field = (name: string) => infos.map(info => new RegExp(`^${name}:(\\S+)`, "m").exec(info)?.[1] ?? "");
  const clock = await checkClockSkew("Redis", async () => {
    const [seconds, microseconds] = await redis.time();
    return Number(seconds) * 1000 + Number(microseconds) / 1000;
  });
  return [
    checkVersion(field("redis_version")),
    checkEviction(field("maxmemory_policy")),
    checkAppendOnlyFile(field("aof_enabled"), field("aof_last_write_status")),
    await checkMemory(redis, field("maxmemory")),
    clock,
  ];
}

/** Returns what each master says of itself. */
async function infoOf(redis: RedisClient): Promise<string[]> {
  return redis instanceof Cluster
    ? await Promise.all(redis.nodes("master").map(node => node.info()))
    : [await redis.info()];
}

function checkVersion(versions: string[]): Finding {
  const [minMajor, minMinor] = MIN_VERSION;
  const old = versions.find(version => {
    const [major = 0, minor = 0] = version.split(".").map(Number);
    return major < minMajor || (major === minMajor && minor < minMinor);
  });
  if (old === undefined) return ok("Redis", `version ${versions[0]}`);
  return problem("Redis", `version ${old} is too old`, `install Redis ${minMajor}.${minMinor} or newer`);
}

function checkEviction(policies: string[]): Finding {
  const evicting = policies.find(policy => policy !== "noeviction");
  if (evicting === undefined) return ok("eviction", "noeviction");
  const message = `Redis may delete accepted work: maxmemory-policy is ${evicting}`;
  return problem("eviction", message, "set maxmemory-policy to noeviction, in redis.conf too");
}

function checkAppendOnlyFile(enabled: string[], lastWrites: string[]): Finding {
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

async function checkMemory(redis: RedisClient, limits: string[]): Promise<Finding> {
  const check = "memory of Redis";
  const share = await readMemoryShare(redis);
  const text = `${Math.round(share * 100)} % used`;
  if (share > MAX_MEMORY_SHARE) {
    return problem(check, text, "raise maxmemory, or find what waits: a full Redis accepts nothing");
  }
  if (limits.every(limit => Number(limit) > 0)) return ok(check, text);
  const advice = "set maxmemory, so that Redis rejects work before the kernel ends it";
  return note(check, `${text} of the machine's, without a limit`, advice);
}
