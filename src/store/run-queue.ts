import { newToken } from "../lib/ids.ts";
import type { RedisKeys } from "./keys.ts";
import { script } from "./lua.ts";
import type { RedisClient } from "./redis.ts";

const push = script<[number, number]>("push-runs");
const take = script<["busy"] | ["empty"] | ["runs", number, ...string[]]>("take-runs");
const finish = script<number>("finish-runs");
const putBack = script<number>("put-back-runs");
const release = script<number>("release-lease");
const forgetLine = script<number>("forget-line");
const keepLease = script<number>("keep-lease");

/** After this, a wake that was promised and never enqueued is promised anew by the next run. */
const WAKE_FLAG_MS = 5_000;
/** A run that ends its holders comes again sooner than this, so its deaths are counted together. */
const DEATHS_KEPT_MS = 3_600_000;

/** Of JSON in one take: requests may have half a megabyte each, and the holder has all of a take in its memory. */
const MOST_BYTES = 2 * 1024 * 1024;
/** A source is listed so often at most: a second command for each run of a busy one would cost as much as the run's own. */
const LISTED_MS = 1000;
const MOST_LISTED = 10_000;

export type Pushed = "wake" | "awake" | "full";
export type Taken =
  | { state: "busy" }
  | { state: "empty" }
  /** `deaths`: how many holders began the one run given and did not live to finish it; 0 for a fresh batch. */
  | { state: "runs"; runs: string[]; deaths: number };
export type Finished = "lost" | "ok" | "change-waits";

/**
 * The runs that wait for each source, in order of arrival, and the lease of the one process that works them off
 * (design.md, guarantee 4). Changes of the source stand in a line of their own, before its runs. What was taken stays
 * in hand until it is finished, so a killed holder loses none.
 */
export interface RunLine {
  /** Puts runs at the line's end; those past `longest` (0: any) are `full`. One of them says `wake` at most. */
  push(sourceId: string, runs: string[], longest: number): Promise<Pushed[]>;
  pushChange(sourceId: string, change: string): Promise<Pushed>;
  /** Fewer than `most` when they are large. `token` is a `leaseToken`: the same job, given out again after a stall, takes its own lease over. */
  take(sourceId: string, token: string, leaseMs: number, most: number): Promise<Taken>;
  /** Marks the first `count` in hand as done; `lost` when the lease went to another meanwhile. */
  finish(sourceId: string, token: string, count: number): Promise<Finished>;
  /** Puts what is in hand back to the front of the line. */
  putBack(sourceId: string, token: string): Promise<void>;
  renew(sourceId: string, token: string, leaseMs: number): Promise<boolean>;
  release(sourceId: string, token: string): Promise<void>;
  /** Sources whose newest run came before `beforeMs`, by the second, and that still have runs waiting with nobody at work. */
  stuck(beforeMs: number): Promise<string[]>;
  /** Changes and runs that wait or are in hand. */
  length(sourceId: string): Promise<number>;
  forget(sourceId: string): Promise<void>;
}

/** A token for one execution of a job. Another execution of the same job takes its lease over and fences this one out. */
export const leaseToken = (jobId: string): string => `${newToken()} ${jobId}`;

export function openRunLine(redis: RedisClient, keys: RedisKeys): RunLine {
  const count = async (sourceId: string) => {
    const lines = [keys.changeLine(sourceId), keys.runLine(sourceId), keys.runsInHand(sourceId)];
    const lengths = await Promise.all(lines.map(line => redis.llen(line)));
    return lengths.reduce((sum, length) => sum + length, 0);
  };
  const idle = async (sourceId: string) => {
    const [waiting, held] = await Promise.all([count(sourceId), redis.exists(keys.runLease(sourceId))]);
    return { empty: waiting === 0, held: held === 1 };
  };

  /** When each source was listed last by this process. */
  const listed = new Map<string, number>();
  const list = async (sourceId: string) => {
    const nowMs = Date.now();
    if (nowMs - (listed.get(sourceId) ?? 0) < LISTED_MS) return;
    await redis.zadd(keys.runLines(), nowMs, sourceId);
    if (listed.size >= MOST_LISTED) listed.clear();
    listed.set(sourceId, nowMs);
  };

  const pushTo = async (line: string, sourceId: string, runs: string[], longest: number) => {
    const [, [taken, isWake]] = await Promise.all([
      // Sent before the push, so that no waiting run is ever unknown to `stuck`.
      list(sourceId),
      push(redis, [line, keys.runWake(sourceId)], [longest, WAKE_FLAG_MS, ...runs]),
    ]);
    return runs.map((_, i): Pushed => (i >= taken ? "full" : isWake === 1 && i === 0 ? "wake" : "awake"));
  };

  return {
    push: (sourceId, runs, longest) => pushTo(keys.runLine(sourceId), sourceId, runs, longest),

    async pushChange(sourceId, change) {
      const [pushed = "full"] = await pushTo(keys.changeLine(sourceId), sourceId, [change], 0);
      return pushed;
    },

    async take(sourceId, token, leaseMs, most) {
      const [state, deaths, ...runs] = await take(
        redis,
        [
          keys.changeLine(sourceId),
          keys.runLine(sourceId),
          keys.runsInHand(sourceId),
          keys.runLease(sourceId),
          keys.runWake(sourceId),
          keys.runDeaths(sourceId),
        ],
        [token, leaseMs, most, DEATHS_KEPT_MS, MOST_BYTES],
      );
      return state === "runs" ? { state, runs: runs as string[], deaths: deaths as number } : { state };
    },

    async finish(sourceId, token, count) {
      const answer = await finish(
        redis,
        [
          keys.changeLine(sourceId),
          keys.runsInHand(sourceId),
          keys.runLease(sourceId),
          keys.runDeaths(sourceId),
        ],
        [token, count],
      );
      if (answer === 0) return "lost";
      return answer === 2 ? "change-waits" : "ok";
    },

    async putBack(sourceId, token) {
      await putBack(
        redis,
        [keys.runLine(sourceId), keys.runsInHand(sourceId), keys.runLease(sourceId)],
        [token],
      );
    },

    async renew(sourceId, token, leaseMs) {
      return (await keepLease(redis, [keys.runLease(sourceId)], [token, leaseMs])) === 1;
    },

    async release(sourceId, token) {
      await release(redis, [keys.runLease(sourceId), keys.runDeaths(sourceId)], [token]);
    },

    async stuck(beforeMs) {
      const sources = await redis.zrangebyscore(keys.runLines(), "-inf", beforeMs);
      const found: string[] = [];
      // One that was listed just now may have runs since that did not list it again.
      const forgetMs = Math.min(beforeMs, Date.now() - 2 * LISTED_MS);
      for (const sourceId of sources) {
        const { empty, held } = await idle(sourceId);
        if (empty) await forgetLine(redis, [keys.runLines()], [sourceId, forgetMs]);
        else if (!held) found.push(sourceId);
      }
      return found;
    },

    length: count,

    async forget(sourceId) {
      await redis.del(
        keys.changeLine(sourceId),
        keys.runLine(sourceId),
        keys.runsInHand(sourceId),
        keys.runLease(sourceId),
        keys.runWake(sourceId),
        keys.runDeaths(sourceId),
      );
      await redis.zrem(keys.runLines(), sourceId);
    },
  };
}
