import { setTimeout as delay } from "node:timers/promises";
import { type Connection, Schema } from "mongoose";
import { LIMITS } from "../limits/catalogue.ts";
import { collection, schemaOptions } from "./connections/mongo.ts";
import type { RedisClient } from "./connections/redis.ts";
import type { RedisKeys } from "./keys.ts";
import { noteLastTimes } from "./last-times.ts";

export type CountName =
  | "emitted"
  | "runs"
  | "run_errors"
  | "attempts"
  | "delivered"
  | "failed"
  | "cancelled"
  | "retried";

/** A message of an account's feed: the latest state of each row that was recorded or changed. */
export interface AccountActivity {
  deliveries: unknown[];
  runs: unknown[];
  /** Rows beyond `LIMITS.liveRows`, which are not in the message. */
  skipped: { deliveries: number; runs: number };
}

export type RowKind = "deliveries" | "runs";

interface Rows {
  deliveries: Map<string, unknown>;
  runs: Map<string, unknown>;
  skipped: { deliveries: number; runs: number };
}

const FLUSH_MS = 5000;
/** A subject is one write; those beyond wait for the next flush. */
const WRITTEN_AT_ONCE = 1000;
/** Subjects that wait to be written, while MongoDB is away; beyond it nothing new is counted. */
const MAX_SUBJECTS = 20_000;
const PUBLISH_MS = 250;
const LOOK_MS = 1000;
/** After so long, every process has looked who watches. */
const SEEN_MS = LOOK_MS + PUBLISH_MS;
/** A live view asks for its account's rows again well before this is over. */
const WATCHED_MS = 45_000;

type Added = Required<Pick<Rollup, "counts" | "dropped" | "latency">>;

const nothing = (): Added => ({ counts: {}, dropped: {}, latency: {} });

function add(to: Record<string, number>, name: string, by: number): void {
  to[name] = (to[name] ?? 0) + by;
}

function addAll(to: Added, more: Added): void {
  for (const field of ["counts", "dropped", "latency"] as const) {
    for (const [name, by] of Object.entries(more[field])) add(to[field], name, by);
  }
}

/**
 * What happens in this process, counted in memory. Every few seconds the counts are added to the hourly rollups, and four
 * times a second the rows of watched accounts are published: no event waits for it, or costs a round trip
 * (docs/decisions/0025-rollups.md).
 */
export class Activity {
  readonly #stores: { mongo: Connection; redis: RedisClient; keys: RedisKeys; clock: () => number };
  /** By subject, of the present hour: called for each event, so without any other work. */
  #subjects = new Map<string, Added>();
  #hour = 0;
  /** By rollup, what is to be written. */
  readonly #toWrite = new Map<string, Added>();
  #rows = new Map<string, Rows>();
  /** Account → since when this process knows that it is watched. */
  #watched: ReadonlyMap<string, number> = new Map();
  readonly #timers: NodeJS.Timeout[] = [];
  #flushing: Promise<void> = Promise.resolve();

  constructor(stores: { mongo: Connection; redis: RedisClient; keys: RedisKeys; clock: () => number }) {
    this.#stores = stores;
  }

  /** Starts to write and to publish. */
  start(): void {
    const every = (ms: number, work: () => Promise<unknown>) => {
      // A store that is away is asked again the next time.
      this.#timers.push(setInterval(() => void work().catch(() => undefined), ms).unref());
    };
    every(FLUSH_MS, () => this.flush());
    every(LOOK_MS, () => this.#look());
    every(PUBLISH_MS, () => this.#publish());
  }

  /**
   * Counts something that happened now, under these names, for each of these subjects: accounts, webhooks, emitters.
   * `latencyMs` is that of one attempt.
   */
  count(subjectIds: readonly string[], names: readonly CountName[], latencyMs?: number): void {
    const bucket = latencyMs === undefined ? undefined : String(latencyBucket(latencyMs));
    for (const subjectId of subjectIds) {
      const added = this.#subject(subjectId);
      if (!added) continue;
      for (const name of names) add(added.counts, name, 1);
      if (bucket !== undefined) add(added.latency, bucket, 1);
    }
  }

  /** Counts events of an emitter that were dropped on purpose. */
  countDropped(emitterId: string, reason: string, by: number): void {
    const added = this.#subject(emitterId);
    if (added) add(added.dropped, reason, by);
  }

  /** Returns what was counted for a subject this hour; undefined if there are too many. */
  #subject(subjectId: string): Added | undefined {
    const hour = hourOf(this.#stores.clock());
    if (hour !== this.#hour) this.#endHour(hour);
    const known = this.#subjects.get(subjectId);
    if (known || this.#subjects.size + this.#toWrite.size >= MAX_SUBJECTS) return known;
    const added = nothing();
    this.#subjects.set(subjectId, added);
    return added;
  }

  /** Hands what was counted so far to those that write, and goes on with an hour. */
  #endHour(next: number): void {
    for (const [subjectId, added] of this.#subjects)
      this.#keepUnwritten(rollupId(subjectId, this.#hour), added);
    this.#subjects = new Map();
    this.#hour = next;
  }

  #keepUnwritten(id: string, added: Added): void {
    const known = this.#toWrite.get(id);
    if (known) addAll(known, added);
    else this.#toWrite.set(id, added);
  }

  /** Shows a row to the live views of its account; `row` is called only if there are any. */
  show(ownerId: string, kind: RowKind, id: string, row: () => unknown): void {
    if (!this.#watched.has(ownerId)) return;
    const rows = this.#rows.get(ownerId) ?? {
      deliveries: new Map(),
      runs: new Map(),
      skipped: { deliveries: 0, runs: 0 },
    };
    this.#rows.set(ownerId, rows);
    if (rows[kind].has(id) || rows[kind].size < LIMITS.liveRows.value) rows[kind].set(id, row());
    else rows.skipped[kind] += 1;
  }

  /**
   * Has every process publish the rows of an account for the next while; resolves once they have looked: at once if it is watched for
   * longer than that takes already, and not only since another view has begun a moment ago.
   */
  async watch(ownerId: string): Promise<void> {
    const { redis, keys, clock } = this.#stores;
    const watchedUntil = Number(await redis.zscore(keys.watchedAccounts(), ownerId));
    const now = clock();
    await redis.zadd(keys.watchedAccounts(), now + WATCHED_MS, ownerId);
    const since = watchedUntil < now ? now : (this.#watched.get(ownerId) ?? now);
    this.#watched = new Map([...this.#watched, [ownerId, since]]);
    if (now - since < SEEN_MS) await delay(since + SEEN_MS - now);
  }

  /** Adds what was counted so far to the rollups. Throws `unavailable`, and keeps what is not written. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.catch(() => undefined).then(() => this.#write());
    return this.#flushing;
  }

  /** Writes and publishes what is left, as far as the stores are there. */
  async close(): Promise<void> {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    await Promise.all([this.flush().catch(() => undefined), this.#publish().catch(() => undefined)]);
  }

  async #write(): Promise<void> {
    this.#endHour(this.#hour);
    const batch = [...this.#toWrite].slice(0, WRITTEN_AT_ONCE);
    if (batch.length === 0) return;
    for (const [id] of batch) this.#toWrite.delete(id);
    try {
      // Not for the majority: nothing is decided by these counts.
      await Rollups(this.#stores.mongo).bulkWrite(batch.map(toUpsert), {
        ordered: false,
        writeConcern: { w: 1, journal: false },
      });
    } catch (error) {
      for (const [id, added] of batch) this.#keepUnwritten(id, added);
      throw error;
    }
    // If these can't be written, the next event writes them.
    await noteLastTimes(
      this.#stores.mongo,
      batch.map(([id, { counts }]) => [subjectOf(id), counts]),
      this.#stores.clock(),
    );
  }

  async #look(): Promise<void> {
    const { redis, keys, clock } = this.#stores;
    const now = clock();
    const watched = await redis.zrangebyscore(keys.watchedAccounts(), now, "+inf");
    this.#watched = new Map(watched.map(ownerId => [ownerId, this.#watched.get(ownerId) ?? now]));
    if (this.#watched.size > 0) await redis.zremrangebyscore(keys.watchedAccounts(), 0, clock() - WATCHED_MS);
  }

  async #publish(): Promise<void> {
    const all = this.#rows;
    if (all.size === 0) return;
    this.#rows = new Map();
    const { redis, keys } = this.#stores;
    await Promise.all(
      [...all].map(([ownerId, { deliveries, runs, skipped }]) => {
        const message: AccountActivity = {
          deliveries: [...deliveries.values()],
          runs: [...runs.values()],
          skipped,
        };
        return redis.publish(keys.accountFeed(ownerId), JSON.stringify(message));
      }),
    );
  }
}

function toUpsert([id, { counts, dropped, latency }]: [string, Added]) {
  const increments = (field: string, values: Record<string, number>) =>
    Object.entries(values).map(([name, by]) => [`${field}.${name}`, by] as const);
  const $inc = Object.fromEntries([
    ...increments("counts", counts),
    ...increments("dropped", dropped),
    ...increments("latency", latency),
  ]);
  const hour = Number(id.slice(id.lastIndexOf(":") + 1));
  const expires_at = new Date(hour * 1000 + LIMITS.rollupKept.value);
  return { updateOne: { filter: { _id: id }, update: { $inc, $setOnInsert: { expires_at } }, upsert: true } };
}

/**
 * What happened in one hour to an account, a webhook or an emitter, added up as it happens and never computed from rows
 * (docs/decisions/0025-rollups.md). Counts are approximate: a process that is killed loses its last seconds.
 */
export interface Rollup {
  /** `<subject>:<hour>`: a range of them is a range of hours. */
  _id: string;
  /** Counts by name; absent ones are 0. */
  counts: Record<string, number>;
  /** Dropped events by reason. */
  dropped: Record<string, number>;
  /** Attempts by bucket of their latency. */
  latency: Record<string, number>;
  expires_at: Date;
}

export const Rollups = collection<Rollup>(
  "rollups",
  new Schema<Rollup>(
    {
      _id: { type: String, required: true },
      counts: { type: Schema.Types.Mixed, default: undefined },
      dropped: { type: Schema.Types.Mixed, default: undefined },
      latency: { type: Schema.Types.Mixed, default: undefined },
      expires_at: { type: Date, required: true },
    },
    schemaOptions,
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
);

const HOUR_S = 3600;

/** Returns the Unix seconds at which the hour of a moment began. */
export const hourOf = (ms: number): number => Math.floor(ms / 1000 / HOUR_S) * HOUR_S;

/** The id of a subject's rollup of one hour. Unix seconds have ten digits until the year 2286. */
export const rollupId = (subjectId: string, hour: number): string => `${subjectId}:${hour}`;

const subjectOf = (id: string): string => id.slice(0, id.lastIndexOf(":"));

/** Each bucket is a tenth wider than the one before: a percentile is off by 5 % at most. */
const GROWTH = 1.1;
const LAST_BUCKET = 130;

/** Returns the bucket of a latency: 0 up to a millisecond, 130 from four minutes on. */
export function latencyBucket(ms: number): number {
  return ms <= 1 ? 0 : Math.min(LAST_BUCKET, Math.ceil(Math.log(ms) / Math.log(GROWTH)));
}

/** Returns the latency, in milliseconds, below which this share of the attempts is; null without any. */
export function percentileOf(buckets: Readonly<Record<string, number>>, share: number): number | null {
  const sorted = Object.entries(buckets)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .sort(([a], [b]) => a - b);
  const all = sorted.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [bucket, count] of sorted) {
    seen += count;
    if (seen >= all * share) return Math.round(GROWTH ** (bucket - 0.5) * 10) / 10;
  }
  return null;
}
