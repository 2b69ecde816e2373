import { LRUCache } from "lru-cache";
import { newToken } from "../lib/ids.ts";
import type { RedisKeys } from "./keys.ts";
import type { RedisClient } from "./redis.ts";

/**
 * What decides who gets an event (emitters, subscriptions, webhooks, memberships), kept in memory for as long as no
 * process has changed any of it: each change gives the directory another version, in Redis (docs/decisions/0013).
 */
export interface Directory {
  /**
   * From here on nothing older than this call is answered. `asOf`, the version that a job was made by, saves the
   * question to Redis where it is also the one that was read within the last second. True when what was kept is dropped.
   */
  refresh(asOf?: string): Promise<boolean>;
  /** That of what is answered now; goes with jobs to the process that works them off. */
  version(): string;
  /** What there is under these keys; `find` is asked for those that are not kept. */
  lookUp<T extends NonNullable<unknown>>(
    kind: string,
    keys: string[],
    find: (missing: string[]) => Promise<ReadonlyMap<string, T>>,
  ): Promise<Map<string, T>>;
  /** To be called after a change is stored, and before its caller hears of it. Never throws. */
  changed(): Promise<void>;
}

/** Bounds what a process that died between a change and its announcement leaves wrong. Milliseconds. */
const KEPT_MS = 5000;
/** How long after a change an event that was on its way by then may still go the old way. */
const READ_AGAIN_MS = 1000;
/** Documents, a list counting for all that are in it. */
const MOST_KEPT = 20_000;

const weigh = (value: NonNullable<unknown>) => (Array.isArray(value) ? value.length + 1 : 1);
const empty = () =>
  new LRUCache<string, NonNullable<unknown>>({
    maxSize: MOST_KEPT,
    sizeCalculation: weigh,
    ttl: KEPT_MS,
    ttlResolution: 100,
  });

export function openDirectory(redis: RedisClient, keys: RedisKeys): Directory {
  let kept = empty();
  let version: string | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    async refresh(asOf) {
      if (asOf !== undefined && asOf === version && performance.now() - readAt < READ_AGAIN_MS) return false;
      const askedAt = performance.now();
      const now = (await redis.get(keys.directoryVersion())) ?? "";
      readAt = askedAt;
      if (now === version) return false;
      version = now;
      // Another one: what is being found meanwhile is for the one before, and may be as old as that.
      kept = empty();
      return true;
    },
    version: () => version ?? "",
    async lookUp<T extends NonNullable<unknown>>(
      kind: string,
      ids: string[],
      find: (missing: string[]) => Promise<ReadonlyMap<string, T>>,
    ) {
      const from = kept;
      const answer = new Map<string, T>();
      const missing: string[] = [];
      for (const id of new Set(ids)) {
        const value = from.get(`${kind} ${id}`) as T | undefined;
        if (value === undefined) missing.push(id);
        else answer.set(id, value);
      }
      if (missing.length === 0) return answer;
      for (const [id, value] of await find(missing)) {
        from.set(`${kind} ${id}`, value);
        answer.set(id, value);
      }
      return answer;
    },
    async changed() {
      // With Redis away no event moves, and what is kept is dropped in seconds anyway.
      await redis.set(keys.directoryVersion(), newToken()).catch(() => undefined);
    },
  };
}
