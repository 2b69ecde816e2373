import { SetupError } from "../../lib/errors.ts";
import { SUPPORTED } from "../../lib/versions.ts";
import { findRedis } from "../../store/find-redis.ts";
import { fieldOf } from "../../store/info.ts";
import { infoOfMasters } from "../../store/masters.ts";
import { readMemoryShare } from "../../store/probe-redis.ts";
import { openProducerRedis, type RedisClient, whenReady } from "../../store/redis.ts";
import type { RedisSettings, RedisTarget } from "../../store/redis-settings.ts";
import { checkClockSkew, type Finding, judgeProgram, note, ok, problem } from "./finding.ts";

const TIMEOUT_MS = 5000;
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
    return await checkServer(redis);
  } catch (error) {
    return [problem("Redis", (error as Error).message, ADVICE)];
  } finally {
    redis.disconnect();
  }
}

async function checkServer(redis: RedisClient): Promise<Finding[]> {
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
