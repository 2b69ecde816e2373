import { LRUCache } from "lru-cache";
import { newToken } from "../lib/ids.ts";
import type { RedisClient } from "./connections/redis.ts";
import type { RedisKeys } from "./keys.ts";
import { script } from "./lua.ts";

const change = script<number>("change-routing");
const readChanges =
  script<[version: string, isUnknown: number, ...accounts: string[]]>("read-routing-changes");

/**
 * What decides who receives an event (emitters, subscriptions, webhooks, memberships), cached in each process for as long
 * as no process has changed any of it: every change sets a new version in Redis and names the accounts that it concerns,
 * so that it empties no other account's part (docs/decisions/0013-routing-cache.md).
 */
export interface RoutingCache {
  /**
   * After this call no lookup returns anything older than the call. `seenVersion`, the version a job was made with, saves
   * the round trip to Redis if it equals the version read within the last second. Returns true if anything was dropped.
   */
  refresh(seenVersion?: string): Promise<boolean>;
  /** The version of what lookups return now; it travels with jobs to the process that handles them. */
  version(): string;
  /**
   * Returns what exists under these keys; `find` is called for the keys that are not cached. `accountsOf` returns the
   * accounts whose changes concern a value; `bytesOf` the bytes of values that may be large.
   */
  lookUp<T extends NonNullable<unknown>>(
    kind: string,
    keys: string[],
    find: (missing: string[]) => Promise<ReadonlyMap<string, T>>,
    accountsOf: (value: T, key: string) => string[],
    bytesOf?: (value: T) => number,
  ): Promise<Map<string, T>>;
  /**
   * Must be called with every account whose routing changed, after the change is stored and before its caller receives the
   * response. Never throws.
   */
  invalidate(accounts: string[]): Promise<void>;
}

/** How long a change stays unseen if its process died before it announced it. Milliseconds. */
const TTL_MS = 5000;
/** How long after a change an event that was already on its way may still take the old route. */
const VERSION_TTL_MS = 1000;
/** Documents; a list counts as many as it holds, and a large one one for each so many bytes. */
const MAX_DOCUMENTS = 20_000;
const BYTES_PER_DOCUMENT = 2048;
/** Changes of which Redis knows the account. A process that has missed more drops all it has. */
const MAX_CHANGES_KEPT = 1000;
/** Accounts whose last change a process remembers; beyond it, it drops all it has. */
const MAX_CHANGED_ACCOUNTS = 10_000;

interface Entry {
  value: NonNullable<unknown>;
  accounts: string[];
  /** The count of refreshes when its lookup began. */
  since: number;
  bytes: number;
}

const weightOf = ({ value, bytes }: Entry) =>
  (Array.isArray(value) ? value.length + 1 : 1) + Math.floor(bytes / BYTES_PER_DOCUMENT);

export function openRoutingCache(redis: RedisClient, keys: RedisKeys): RoutingCache {
  return new AccountCache(redis, keys);
}

class AccountCache implements RoutingCache {
  readonly #redis: RedisClient;
  readonly #keys: RedisKeys;
  readonly #entries = new LRUCache<string, Entry>({
    maxSize: MAX_DOCUMENTS,
    sizeCalculation: weightOf,
    ttl: TTL_MS,
    ttlResolution: 100,
  });
  /** Account → the refresh that saw its last change: what was looked up before that is not valid. */
  readonly #changedAt = new Map<string, number>();
  /** The refresh at which everything became invalid. */
  #allChangedAt = 0;
  #refreshes = 0;
  #version: string | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(redis: RedisClient, keys: RedisKeys) {
    this.#redis = redis;
    this.#keys = keys;
  }

  async refresh(seenVersion?: string): Promise<boolean> {
    const isFresh = performance.now() - this.#readAt < VERSION_TTL_MS;
    if (seenVersion !== undefined && seenVersion === this.#version && isFresh) return false;
    const askedAt = performance.now();
    const current = (await this.#redis.get(this.#keys.routingVersion())) ?? "";
    if (current === this.#version) {
      this.#readAt = askedAt;
      return false;
    }
    const names = [this.#keys.routingVersion(), this.#keys.routingChanges()];
    const [version, isUnknown, ...accounts] = await readChanges(this.#redis, names, [this.#version ?? ""]);
    this.#version = version;
    this.#readAt = askedAt;
    this.#refreshes += 1;
    if (isUnknown === 1 || this.#changedAt.size + accounts.length > MAX_CHANGED_ACCOUNTS) {
      this.#changedAt.clear();
      this.#allChangedAt = this.#refreshes;
      this.#entries.clear();
    } else {
      for (const account of accounts) this.#changedAt.set(account, this.#refreshes);
    }
    return true;
  }

  version(): string {
    return this.#version ?? "";
  }

  async lookUp<T extends NonNullable<unknown>>(
    kind: string,
    ids: string[],
    find: (missing: string[]) => Promise<ReadonlyMap<string, T>>,
    accountsOf: (value: T, key: string) => string[],
    bytesOf: (value: T) => number = () => 0,
  ): Promise<Map<string, T>> {
    const since = this.#refreshes;
    const found = new Map<string, T>();
    const missing: string[] = [];
    for (const id of new Set(ids)) {
      const entry = this.#entries.get(`${kind} ${id}`);
      if (entry && this.#isValid(entry)) found.set(id, entry.value as T);
      else missing.push(id);
    }
    if (missing.length === 0) return found;
    for (const [id, value] of await find(missing)) {
      const entry = { value, accounts: accountsOf(value, id), since, bytes: bytesOf(value) };
      this.#entries.set(`${kind} ${id}`, entry);
      found.set(id, value);
    }
    return found;
  }

  async invalidate(accounts: string[]): Promise<void> {
    if (accounts.length === 0) return;
    const names = [this.#keys.routingVersion(), this.#keys.routingChanges()];
    const args = [newToken(), MAX_CHANGES_KEPT, ...new Set(accounts)];
    // While Redis is away no event moves, and cached entries expire in seconds anyway.
    await change(this.#redis, names, args).catch(() => undefined);
  }

  #isValid({ accounts, since }: Entry): boolean {
    if (since < this.#allChangedAt) return false;
    return accounts.every(account => (this.#changedAt.get(account) ?? 0) <= since);
  }
}
