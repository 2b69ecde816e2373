import { LRUCache } from "lru-cache";
import { newToken } from "../lib/ids.ts";
import type { RedisKeys } from "./keys.ts";
import type { RedisClient } from "./redis.ts";

/**
 * What decides who receives an event (emitters, subscriptions, webhooks, memberships), cached in each process for as long
 * as no process has changed any of it: every change sets a new version in Redis (docs/decisions/0013-routing-cache.md).
 */
export interface RoutingCache {
  /**
   * After this call no lookup returns anything older than the call. `seenVersion`, the version a job was made with, saves
   * the round trip to Redis if it equals the version read within the last second. Returns true if the cache was dropped.
   */
  refresh(seenVersion?: string): Promise<boolean>;
  /** The version of what lookups return now; it travels with jobs to the process that handles them. */
  version(): string;
  /** Returns what exists under these keys; `find` is called for the keys that are not cached. */
  lookUp<T extends NonNullable<unknown>>(
    kind: string,
    keys: string[],
    find: (missing: string[]) => Promise<ReadonlyMap<string, T>>,
  ): Promise<Map<string, T>>;
  /** Must be called after a change is stored and before its caller receives the response. Never throws. */
  invalidate(): Promise<void>;
}

/** How long a change stays unseen if its process died before it announced it. Milliseconds. */
const TTL_MS = 5000;
/** How long after a change an event that was already on its way may still take the old route. */
const VERSION_TTL_MS = 1000;
/** Documents; a list counts as many as it holds. */
const MAX_DOCUMENTS = 20_000;

const weightOf = (value: NonNullable<unknown>) => (Array.isArray(value) ? value.length + 1 : 1);
const emptyCache = () =>
  new LRUCache<string, NonNullable<unknown>>({
    maxSize: MAX_DOCUMENTS,
    sizeCalculation: weightOf,
    ttl: TTL_MS,
    ttlResolution: 100,
  });

export function openRoutingCache(redis: RedisClient, keys: RedisKeys): RoutingCache {
  let cache = emptyCache();
  let version: string | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    async refresh(seenVersion) {
      const isFresh = performance.now() - readAt < VERSION_TTL_MS;
      if (seenVersion !== undefined && seenVersion === version && isFresh) return false;
      const askedAt = performance.now();
      const current = (await redis.get(keys.routingVersion())) ?? "";
      readAt = askedAt;
      if (current === version) return false;
      version = current;
      // A new object: lookups under way belong to the old version, and may be as old as that.
      cache = emptyCache();
      return true;
    },
    version: () => version ?? "",
    async lookUp<T extends NonNullable<unknown>>(
      kind: string,
      ids: string[],
      find: (missing: string[]) => Promise<ReadonlyMap<string, T>>,
    ) {
      const cached = cache;
      const found = new Map<string, T>();
      const missing: string[] = [];
      for (const id of new Set(ids)) {
        const value = cached.get(`${kind} ${id}`) as T | undefined;
        if (value === undefined) missing.push(id);
        else found.set(id, value);
      }
      if (missing.length === 0) return found;
      for (const [id, value] of await find(missing)) {
        cached.set(`${kind} ${id}`, value);
        found.set(id, value);
      }
      return found;
    },
    async invalidate() {
      // While Redis is away no event moves, and cached entries expire in seconds anyway.
      await redis.set(keys.routingVersion(), newToken()).catch(() => undefined);
    },
  };
}
