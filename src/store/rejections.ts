import { LIMITS } from "../limits/catalogue.ts";
import type { RedisClient } from "./connections/redis.ts";
import type { RedisKeys } from "./keys.ts";

interface Deps {
  redis: RedisClient;
  keys: RedisKeys;
}

/** A request that was not verified, without anything by which it could be repeated or a secret be guessed. */
export interface Rejection {
  at_ms: number;
  reason: string;
  /** What would have made it right; null if nothing that was tried. */
  hint: string | null;
  method: string;
  client_ip: string;
  /** Names of its headers. */
  headers: string[];
  body_bytes: number;
  /** True if it was let through all the same, and only reported. */
  reported: boolean;
}

/** What one process has seen at a source since it last wrote that. */
export interface Noted {
  /** By reason. */
  counts: Map<string, number>;
  /** The newest last. */
  last: Rejection[];
  /** When a request was verified last; null if none was. */
  verifiedAtMs: number | null;
}

/** What is known of the rejections of a source. */
export interface Rejections {
  counts: Record<string, number>;
  /** When the first of them was since a request was verified; null if the last request was right, as far as is known. */
  sinceMs: number | null;
  verifiedAtMs: number | null;
  /** The newest first. */
  last: Rejection[];
}

const KEPT = LIMITS.rejectionsKept.value;
const KEPT_MS = LIMITS.rejectionsKeptMs.value;
/** Fields of the hash, beside `count:<reason>`. */
const SINCE = "since_ms";
const VERIFIED = "verified_ms";
const COUNT = "count:";

/**
 * Adds what a process has noted, and returns since when everything was rejected; null if a request was verified since. Throws
 * `unavailable`.
 */
export async function addRejections(
  { redis, keys }: Deps,
  sourceId: string,
  { counts, last, verifiedAtMs }: Noted,
): Promise<number | null> {
  const [state, list] = [keys.rejectionState(sourceId), keys.rejections(sourceId)];
  const adding = redis.multi();
  for (const [reason, by] of counts) adding.hincrby(state, COUNT + reason, by);
  if (verifiedAtMs !== null) adding.hset(state, VERIFIED, verifiedAtMs).hdel(state, SINCE);
  const first = last.find(({ at_ms }) => verifiedAtMs === null || at_ms > verifiedAtMs);
  if (first) adding.hsetnx(state, SINCE, first.at_ms);
  if (last.length > 0) {
    adding
      .lpush(list, ...last.map(one => JSON.stringify(one)))
      .ltrim(list, 0, KEPT - 1)
      .pexpire(list, KEPT_MS);
  }
  adding.pexpire(state, KEPT_MS);
  await adding.exec();
  const since = counts.size === 0 ? null : await redis.hget(state, SINCE);
  return since === null ? null : Number(since);
}

/** Returns what is known of the rejections of a source. Throws `unavailable`. */
export async function readRejections({ redis, keys }: Deps, sourceId: string): Promise<Rejections> {
  const [state, last] = await Promise.all([
    redis.hgetall(keys.rejectionState(sourceId)),
    redis.lrange(keys.rejections(sourceId), 0, KEPT - 1),
  ]);
  const number = (name: string) => (state[name] === undefined ? null : Number(state[name]));
  const counts = Object.entries(state).filter(([name]) => name.startsWith(COUNT));
  return {
    counts: Object.fromEntries(counts.map(([name, count]) => [name.slice(COUNT.length), Number(count)])),
    sinceMs: number(SINCE),
    verifiedAtMs: number(VERIFIED),
    last: last.map(text => JSON.parse(text) as Rejection),
  };
}
