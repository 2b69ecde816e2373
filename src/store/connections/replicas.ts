import { Cluster, type Redis } from "ioredis";
import { createBatcher } from "../../lib/batcher.ts";
import { AppError } from "../../lib/errors.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import { mastersOf, type RedisClient } from "./redis.ts";

/** How long replicas may take to confirm; less than a producer waits for the reply to a command. */
const WAIT_MS = 1000;
const RETRY_AFTER_MS = 1000;

/** A moment before some writes: no connection was lost since, if they are confirmed. */
export type BeforeWrites = number;

/** Confirms that replicas of Redis hold what was written (docs/decisions/0036-loss-at-failover.md). */
export interface Replicas {
  /** To be called before the writes that `confirm` is to confirm. */
  begin(): BeforeWrites;
  /**
   * Resolves once enough replicas hold what this process wrote since `before`. Throws `unavailable` if they don't in time,
   * or a connection was lost in between; what was written may be handled all the same.
   */
  confirm(before: BeforeWrites): Promise<void>;
  /** Does these writes and confirms them. Throws as both do. */
  confirmed<T>(write: () => Promise<T>): Promise<T>;
}

/** Confirms nothing: what is written counts as accepted. */
export const NO_REPLICAS: Replicas = {
  begin: () => 0,
  confirm: async () => undefined,
  confirmed: write => write(),
};

/** `redis` is the client that writes, opened a moment before: replicas confirm what came over the same connection. */
export function openReplicas(redis: RedisClient, wanted: number, metrics: Metrics): Replicas {
  return new ReplicaWaits(redis, wanted, metrics);
}

/** How many commands with keys were sent to a server, and up to which of them replicas are known to hold. */
interface Counts {
  sent: number;
  held: number;
}

class ReplicaWaits implements Replicas {
  readonly #redis: RedisClient;
  readonly #wanted: number;
  readonly #metrics: Metrics;
  readonly #counts = new Map<Redis, Counts>();
  /** Connections lost so far: a new one knows nothing of what the one before it wrote. */
  #lost = 0;
  /** One `WAIT` at a time on a connection covers everything that any caller sent before it. */
  readonly #wait = createBatcher<void>(() => this.#waitOnce(), { maxWeight: Number.MAX_SAFE_INTEGER });

  constructor(redis: RedisClient, wanted: number, metrics: Metrics) {
    this.#redis = redis;
    this.#wanted = wanted;
    this.#metrics = metrics;
    if (!(redis instanceof Cluster)) {
      this.#watch(redis);
      return;
    }
    redis.on("+node", (node: Redis) => this.#watch(node));
    redis.on("-node", (node: Redis) => {
      this.#counts.delete(node);
      this.#lost += 1;
    });
  }

  begin(): BeforeWrites {
    return this.#lost;
  }

  async confirm(before: BeforeWrites): Promise<void> {
    await this.#wait();
    if (this.#lost !== before) throw notHeld();
  }

  async confirmed<T>(write: () => Promise<T>): Promise<T> {
    const before = this.begin();
    const result = await write();
    await this.confirm(before);
    return result;
  }

  #watch(node: Redis): void {
    const counts: Counts = { sent: 0, held: 0 };
    this.#counts.set(node, counts);
    const send = node.sendCommand.bind(node);
    node.sendCommand = (command, stream) => {
      if (command.getKeys().length > 0) counts.sent += 1;
      return send(command, stream);
    };
    node.on("close", () => {
      this.#lost += 1;
    });
  }

  async #waitOnce(): Promise<void> {
    const startedAt = performance.now();
    let outcome = "short";
    try {
      await Promise.all(mastersOf(this.#redis).map(node => this.#waitAt(node)));
      outcome = "held";
    } finally {
      this.#metrics.observe("replica_wait_seconds", (performance.now() - startedAt) / 1000, { outcome });
    }
  }

  /** Asks nothing of a server to which nothing was written since its replicas held everything. */
  async #waitAt(node: Redis): Promise<void> {
    const counts = this.#counts.get(node);
    if (!counts || counts.held === counts.sent) return;
    const { sent } = counts;
    const held = await node.wait(this.#wanted, WAIT_MS).catch((cause: unknown) => {
      throw notHeld(cause);
    });
    if (held < this.#wanted) throw notHeld();
    counts.held = Math.max(counts.held, sent);
  }
}

const notHeld = (cause?: unknown) =>
  new AppError(
    "unavailable",
    "too few replicas of Redis hold this yet; it may be handled all the same. Send it again: under the same id, or with " +
      "the same Idempotency-Key, a published event is not another one",
    { retryAfterMs: RETRY_AFTER_MS, cause },
  );

/**
 * Returns a function that returns the Unix milliseconds since which this client has had all of its masters without a break,
 * by `clock`. What was written before may have been lost with a master (docs/decisions/0036-loss-at-failover.md); what was
 * written since is known to Redis.
 */
export function watchLosses(redis: RedisClient, clock: () => number): () => number {
  let since = clock();
  const note = () => {
    since = clock();
  };
  // When the next connection is ready, too: until then other processes may have written to a master that was lost later.
  const watch = (node: Redis) => void node.on("close", note).on("ready", note);
  if (!(redis instanceof Cluster)) {
    watch(redis);
    return () => since;
  }
  for (const node of redis.nodes("all")) watch(node);
  redis.on("+node", watch);
  // A master that hangs keeps its connection for some seconds after another one has taken its place.
  const masters = () =>
    redis
      .nodes("master")
      .map(({ options }) => `${options.host}:${options.port}`)
      .sort()
      .join();
  let known = masters();
  redis.on("refresh", () => {
    const now = masters();
    if (now !== known) note();
    known = now;
  });
  return () => since;
}
