import { newToken } from "./ids.ts";
import type { RedisKeys } from "./keys.ts";
import { script } from "./lua.ts";
import type { RedisClient } from "./redis.ts";

const push = script<number>("push-run");
const take = script<["busy"] | ["empty"] | ["run", string]>("take-run");
const finish = script<number>("finish-run");
const forgetLine = script<number>("forget-line");
const keepLease = script<number>("keep-lease");

/** After this, a wake that was promised and never enqueued is promised anew by the next run. */
const WAKE_FLAG_MS = 5_000;

export type Pushed = "wake" | "awake" | "full";
export type Taken = { state: "busy" } | { state: "empty" } | { state: "run"; run: string };

/**
 * The runs that wait for each source, in order of arrival, and the lease of the one process that works them off
 * (design.md, guarantee 4). A run stays `current` until it is finished, so a killed holder loses none.
 */
export interface RunLine {
  push(sourceId: string, run: string, where: "back" | "front", longest: number): Promise<Pushed>;
  /** `token` is a `leaseToken`: the same job, given out again after a stall, takes its own lease over. */
  take(sourceId: string, token: string, leaseMs: number): Promise<Taken>;
  /** False when the lease went to another meanwhile. */
  finish(sourceId: string, token: string): Promise<boolean>;
  renew(sourceId: string, token: string, leaseMs: number): Promise<boolean>;
  release(sourceId: string, token: string): Promise<void>;
  /** Sources whose newest run came before `beforeMs` and that still have runs waiting with nobody at work. */
  stuck(beforeMs: number): Promise<string[]>;
  length(sourceId: string): Promise<number>;
  forget(sourceId: string): Promise<void>;
}

/** A token for one execution of a job. Another execution of the same job takes its lease over and fences this one out. */
export const leaseToken = (jobId: string): string => `${newToken()} ${jobId}`;

export function openRunLine(redis: RedisClient, keys: RedisKeys): RunLine {
  const idle = async (sourceId: string) => {
    const [waiting, current, held] = await Promise.all([
      redis.llen(keys.runLine(sourceId)),
      redis.exists(keys.runCurrent(sourceId)),
      redis.exists(keys.runLease(sourceId)),
    ]);
    return { empty: waiting === 0 && current === 0, held: held === 1 };
  };

  return {
    async push(sourceId, run, where, longest) {
      // Before the push, so that no waiting run is ever unknown to `stuck`.
      await redis.zadd(keys.runLines(), Date.now(), sourceId);
      const answer = await push(
        redis,
        [keys.runLine(sourceId), keys.runWake(sourceId)],
        [run, where, longest, WAKE_FLAG_MS],
      );
      if (answer === -1) return "full";
      return answer === 1 ? "wake" : "awake";
    },

    async take(sourceId, token, leaseMs) {
      const [state, run] = await take(
        redis,
        [keys.runLine(sourceId), keys.runCurrent(sourceId), keys.runLease(sourceId), keys.runWake(sourceId)],
        [token, leaseMs],
      );
      return state === "run" ? { state, run: run as string } : { state };
    },

    async finish(sourceId, token) {
      return (await finish(redis, [keys.runCurrent(sourceId), keys.runLease(sourceId)], [token])) === 1;
    },

    async renew(sourceId, token, leaseMs) {
      return (await keepLease(redis, [keys.runLease(sourceId)], [token, leaseMs])) === 1;
    },

    async release(sourceId, token) {
      await keepLease(redis, [keys.runLease(sourceId)], [token, 0]);
    },

    async stuck(beforeMs) {
      const sources = await redis.zrangebyscore(keys.runLines(), "-inf", beforeMs);
      const found: string[] = [];
      for (const sourceId of sources) {
        const { empty, held } = await idle(sourceId);
        if (empty) await forgetLine(redis, [keys.runLines()], [sourceId, beforeMs]);
        else if (!held) found.push(sourceId);
      }
      return found;
    },

    length: sourceId => redis.llen(keys.runLine(sourceId)),

    async forget(sourceId) {
      await redis.del(
        keys.runLine(sourceId),
        keys.runCurrent(sourceId),
        keys.runLease(sourceId),
        keys.runWake(sourceId),
      );
      await redis.zrem(keys.runLines(), sourceId);
    },
  };
}
