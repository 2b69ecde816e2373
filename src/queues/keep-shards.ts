import { warnThrottled } from "../lib/logger.ts";
import { withDeadline } from "../lib/time.ts";
import type { RedisKeys } from "../store/keys.ts";
import { growQueueShards, type ShardCount } from "../store/queue-shards.ts";
import { type AnyQueue, isSharded, type OpenQueue, openedQueue, type Queues } from "./define-queue.ts";
import { type OpenOptions, openQueues } from "./open-queues.ts";
import { type Sharding, shardName, shardsOf } from "./shards.ts";

/** How often a process looks whether a number has grown. */
const LOOK_MS = 5000;
/**
 * How long after a number has grown producers use it: by then each worker that is alive has looked, so that the shards have
 * consumers before they have jobs.
 */
const GRACE_MS = 15_000;

interface KeepOptions extends OpenOptions {
  keys: RedisKeys;
  /** The numbers in the settings, by queue. */
  wanted: Readonly<Record<string, number>>;
  graceMs?: number;
}

/**
 * The shards of this process's queues. Their numbers are stored in Redis and only grow: a process whose settings have
 * higher ones raises them, and all others follow (docs/decisions/0031-shards-of-queues.md).
 */
export class KeptShards {
  readonly #queues: Map<string, OpenQueue>;
  readonly #options: KeepOptions;
  readonly #sharded: readonly AnyQueue[];
  /** The settings at first, then what was seen last, so that a Redis that lost its data learns it again. */
  readonly #wanted: Map<string, number>;
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isClosed = false;

  private constructor(declared: readonly AnyQueue[], queues: Map<string, OpenQueue>, options: KeepOptions) {
    this.#queues = queues;
    this.#options = options;
    this.#sharded = declared.filter(isSharded);
    this.#wanted = new Map(this.#sharded.map(({ name }) => [name, options.wanted[name] ?? 1]));
  }

  /**
   * Opens the queues with all their shards. `declared` are those that may have any. Throws if Redis does not respond by the
   * deadline.
   */
  static async open(declared: readonly AnyQueue[], options: KeepOptions): Promise<KeptShards> {
    const queues = await openQueues(declared, options);
    const kept = new KeptShards(declared, queues, options);
    try {
      await withDeadline(kept.#look(), options.deadlineMs);
      kept.#warnOfSmaller();
    } catch (error) {
      await kept.close();
      throw error;
    }
    const warn = warnThrottled(options.log, "number of shards");
    kept.#timer = setInterval(() => void kept.#look().catch(warn), LOOK_MS).unref();
    return kept;
  }

  /** The queues by name, with a further one for each shard; it changes when a number grows. */
  get queues(): Queues {
    return this.#queues;
  }

  /** How many shards of a queue may hold jobs. */
  numberOf(queue: { name: string }): number {
    const first = this.#queues.get(queue.name);
    return first ? shardsOf(first).length : 1;
  }

  /** Calls the listener whenever a number has grown, until the returned function is called. */
  onGrown(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await Promise.all([...this.#queues.values()].map(queue => queue.close()));
  }

  async #look(): Promise<void> {
    // A worker's command waits for as long as Redis is away.
    if (this.#isClosed || this.#isLooking || this.#sharded.length === 0) return;
    this.#isLooking = true;
    try {
      await this.#lookOnce();
    } finally {
      this.#isLooking = false;
    }
  }

  async #lookOnce(): Promise<void> {
    const { redis, keys, graceMs = GRACE_MS } = this.#options;
    const counts = await growQueueShards({ redis, keys }, this.#wanted, graceMs);
    let hasGrown = false;
    for (const declared of this.#sharded) {
      const count = counts.get(declared.name);
      if (count && (await this.#follow(declared, count))) hasGrown = true;
    }
    if (hasGrown) for (const listener of this.#listeners) listener();
  }

  /** Opens what a queue lacks; returns whether there was anything. */
  async #follow(declared: AnyQueue, { producing, consuming }: ShardCount): Promise<boolean> {
    const first = openedQueue(this.#queues, declared);
    const sharding: Sharding = first.sharding ?? { all: [first], producing: 1 };
    first.sharding = sharding;
    const before = sharding.all.length;
    for (let shard = before; shard < consuming; shard++) {
      const name = shardName(declared.name, shard);
      const queue = openedQueue(await openQueues([{ ...declared, name }], this.#options), { name });
      if (this.#isClosed) {
        await queue.close();
        return false;
      }
      this.#queues.set(name, queue);
      sharding.all.push(queue);
    }
    this.#wanted.set(declared.name, sharding.all.length);
    if (sharding.producing !== producing) {
      this.#options.log.info({ queue: declared.name, shards: producing }, "new jobs are divided over shards");
    }
    sharding.producing = producing;
    return sharding.all.length > before;
  }

  #warnOfSmaller(): void {
    for (const [queue, wanted] of Object.entries(this.#options.wanted)) {
      const stored = this.numberOf({ name: queue });
      if (wanted >= stored) continue;
      const fields = { queue, setting: wanted, shards: stored };
      this.#options.log.warn(fields, "QUEUE_SHARDS is below the stored number, which does not fall");
    }
  }
}
