import { setTimeout as delay } from "node:timers/promises";
import type { Queue } from "bullmq";
import type { Logger } from "pino";
import { warnThrottled } from "../lib/logger.ts";
import { withDeadline } from "../lib/time.ts";
import type { RedisClient } from "../store/connections/redis.ts";
import type { RedisKeys } from "../store/keys.ts";
import { growQueueShards, type ShardCount } from "../store/queue-shards.ts";
import { PayloadQueue } from "./backend.ts";
import { type AnyQueue, isSharded, type OpenQueue, openedQueue, type Queues } from "./define-queue.ts";
import { FairOrder } from "./fair-order.ts";
import { type Sharding, shardName, shardsOf } from "./shards.ts";
import { StoredJobs } from "./stored-jobs.ts";

interface OpenOptions {
  redis: RedisClient;
  prefix: string;
  log: Logger;
  /** How long to wait for the queues at start; milliseconds. */
  deadlineMs: number;
}

/** Between two attempts: a client that lost its connection rejects at once. */
const PAUSE_MS = 100;

/** BullMQ's key prefix of one queue: a hash tag of its own, so that a cluster keeps each queue in one slot. */
export function queuePrefix(prefix: string, name: string): string {
  return `{${prefix}:${name}}`;
}

/** Opens the producing side of the queues over one fail-fast client. Throws if they are not ready by the deadline. */
export async function openQueues(
  declarations: readonly Pick<AnyQueue, "name" | "quantum">[],
  options: OpenOptions,
): Promise<Map<string, OpenQueue>> {
  // One for all queues: they share a client, and each reports its errors.
  const warn = warnThrottled(options.log, "queue connection");
  const deadline = Date.now() + options.deadlineMs;
  const queues = new Map<string, OpenQueue>();
  try {
    for (const declared of declarations) {
      queues.set(declared.name, await openQueue(declared, options, { warn, deadline }));
    }
    return queues;
  } catch (error) {
    await Promise.all([...queues.values()].map(queue => queue.close()));
    throw error;
  }
}

/** Opens one queue. Throws if it is not ready by the deadline. */
async function openQueue(
  { name, quantum }: Pick<AnyQueue, "name" | "quantum">,
  options: OpenOptions,
  { warn, deadline }: { warn: (error: unknown) => void; deadline: number },
): Promise<OpenQueue> {
  const queue = await openReady(() => open(name, options, warn), deadline);
  const order = quantum && new FairOrder(new StoredJobs(options.redis, queue), quantum);
  return Object.assign(queue, order && { order });
}

function open(name: string, { redis, prefix }: OpenOptions, warn: (error: unknown) => void): Queue {
  const queue = new PayloadQueue(name, {
    connection: redis,
    prefix: queuePrefix(prefix, name),
    skipWaitingForReady: true,
    // The stream serves live listeners only; BullMQ's default of 10,000 entries a queue would waste memory.
    streams: { events: { maxLen: 100 } },
  });
  // Without a listener an `error` event ends the process.
  queue.on("error", warn);
  return queue;
}

/**
 * Opens a queue that has reached Redis. BullMQ asks once and keeps the result for ever, a failure too: a queue that failed
 * is useless, so another one replaces it. A queue that is ready stays ready.
 */
async function openReady(openOne: () => Queue, deadline: number): Promise<Queue> {
  for (;;) {
    const queue = openOne();
    try {
      // A worker's client would wait for Redis without end.
      await withDeadline(queue.waitUntilReady(), deadline - Date.now());
      return queue;
    } catch (error) {
      await queue.close();
      if (Date.now() >= deadline) {
        throw new Error(`Redis did not respond for queue ${queue.name}`, { cause: error });
      }
      await delay(PAUSE_MS);
    }
  }
}

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
