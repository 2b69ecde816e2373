import type { Connection } from "mongoose";
import type { Config } from "./config.ts";
import { createEgress, type Egress } from "./egress/agent.ts";
import { LastingConnections } from "./egress/lasting-connections.ts";
import type { EgressProxy } from "./egress/proxy.ts";
import { AppError } from "./lib/errors.ts";
import { armFailpoint } from "./lib/failpoint.ts";
import { newToken } from "./lib/ids.ts";
import { openOnce } from "./lib/lazy.ts";
import { createLogger, type Logger, warnThrottled } from "./lib/logger.ts";
import { LIMITS } from "./limits/catalogue.ts";
import { Metrics } from "./metrics/metrics.ts";
import { OpenIdProvider } from "./openid/provider.ts";
import type { Queues } from "./queues/define-queue.ts";
import { allQueues } from "./queues/index.ts";
import { KeptShards } from "./queues/open-queues.ts";
import { openReplies, type Replies } from "./queues/replies.ts";
import { openSandboxes } from "./sandbox/host.ts";
import { SandboxHealth } from "./sandbox/sandbox-health.ts";
import type { Sandboxes } from "./sandbox/sandboxes.ts";
import { warmRoom } from "./sandbox/warm-room.ts";
import { Activity } from "./store/activity.ts";
import { asLackOfRights } from "./store/connections/diagnose-redis.ts";
import { findRedis } from "./store/connections/find-redis.ts";
import { openMongo } from "./store/connections/mongo.ts";
import { rejectUnusableRedis } from "./store/connections/probe-redis.ts";
import {
  inProducerTime,
  openProducerRedis,
  openSubscriberRedis,
  openWorkerRedis,
  type RedisClient,
  whenReady,
} from "./store/connections/redis.ts";
import type { RedisTarget } from "./store/connections/redis-url.ts";
import { NO_REPLICAS, openReplicas, type Replicas, watchLosses } from "./store/connections/replicas.ts";
import { StoreClock } from "./store/connections/store-clock.ts";
import { storeHosts } from "./store/connections/store-hosts.ts";
import { type EventLog, openEventLog } from "./store/events/event-log.ts";
import { type Feed, openFeed } from "./store/feed.ts";
import { type RedisKeys, redisKeys } from "./store/keys.ts";
import { openPermits, type Permits } from "./store/limits/permits.ts";
import {
  type MemoryShare,
  openMemoryShare,
  openQueuedBytes,
  type QueuedBytes,
} from "./store/limits/waiting-bytes.ts";
import { openRoutingCache, type RoutingCache } from "./store/routing-cache.ts";
import { openRunQueue, type RunQueue } from "./store/runs/run-queue.ts";
import { createSecrets, type Secrets } from "./store/secrets.ts";
import { collectorHosts } from "./tracing/collector-host.ts";
import { openTracer, type Tracer } from "./tracing/tracer.ts";

/** MongoDB and Redis, with what operations on them read and write besides: the settings, the time, the log. */
export interface Stores {
  config: Config;
  log: Logger;
  /** The time of the installation, which is that of Redis, in Unix milliseconds (docs/decisions/0017-one-clock.md). */
  clock: () => number;
  mongo: Connection;
  redis: RedisClient;
  keys: RedisKeys;
  eventLog: EventLog;
  routing: RoutingCache;
  secrets: Secrets;
}

/** What is enqueued, and what bounds it. */
export interface Queued {
  queues: Queues;
  /** Into how many parts the queues are divided. */
  shards: KeptShards;
  runQueue: RunQueue;
  queued: QueuedBytes;
  permits: Permits;
  /** How full Redis is. */
  memory: MemoryShare;
  /** Confirm what is written to the queues (docs/decisions/0036-loss-at-failover.md). */
  replicas: Replicas;
  /** Unix milliseconds since which `redis` has had its masters without a break: earlier writes may be lost. */
  redisSince: () => number;
}

/** What operators and accounts see of the work, besides the log. */
export interface Observed {
  metrics: Metrics;
  /** Records spans; does nothing unless there is somewhere to send them. */
  tracer: Tracer;
  /** What happens in this process, for hourly rollups and live views. */
  activity: Activity;
}

/** The guarded ways out. */
export interface Outbound {
  egress: Egress;
  /** To destinations that are spoken to over a lasting connection. */
  lastingConnections: LastingConnections;
  /** With which people sign in; undefined if there is none. It is asked nothing before the first of them does. */
  openid: OpenIdProvider | undefined;
}

/** What executes the code of components. */
export interface Sandboxed {
  /**
   * Opened at first use, and nothing is started before: only the web process (to describe code), `runs`, and `deliveries`
   * where listeners have code of their own need it. Throws `unavailable` if it can't be opened.
   */
  sandboxes: () => Promise<Sandboxes>;
  /** Whether this process can start sandboxes. */
  sandboxHealth: SandboxHealth;
}

/** What this process waits for from others. */
export interface Awaited {
  /** A random name of this process, for locks and replies. */
  processId: string;
  /** How Redis is reached, for further clients. */
  redisTarget: RedisTarget;
  /** Opened at first use: only the web process streams events. */
  feed: () => Promise<Feed>;
  /** Opened at first use: only the web process waits for runs. Throws `unavailable` if Redis is away. */
  replies: () => Promise<Replies>;
}

/** What moves events, deliveries and runs on. */
export interface Working extends Stores, Queued, Observed {}

/** What calls code of components, which may need credentials from outside. */
export interface Calling extends Stores, Observed, Outbound, Sandboxed {}

/** Everything a process works with; an operation takes the bundles that it needs. */
export interface Platform extends Stores, Queued, Observed, Outbound, Sandboxed, Awaited {
  /** Closes everything in reverse order; may be called twice. */
  close(): Promise<void>;
}

/** How long a start waits for the stores before it fails with a clear line. */
const STORES_DEADLINE_MS = 15_000;
/** How long the last spans may take when a process stops. */
const SPANS_DEADLINE_MS = 1500;

/**
 * Opens what a process needs, in order. `process` is a queue's name, `web`, `cli` or `all`: `web` and `cli` are producers,
 * which fail fast when Redis goes away, while workers wait. Throws an error of one line if a store doesn't respond in time, and
 * SetupError if one is not what the settings say.
 */
export async function openPlatform(
  config: Config,
  process: string,
  overrides: { clock?: () => number; log?: Logger; openSandboxes?: typeof openSandboxes } = {},
): Promise<Platform> {
  armFailpoint(config.failpoint);
  const log = overrides.log ?? createLogger(process, config.logLevel);
  const keys = redisKeys(config.redisPrefix);
  const isProducer = process === "web" || process === "cli";
  const closers: (() => Promise<unknown>)[] = [];
  const metrics = new Metrics();
  const processId = newToken();
  const close = async () => {
    for (const end of closers.splice(0).reverse()) {
      await end().catch((error: unknown) => log.warn({ err: error }, "while closing"));
    }
  };
  try {
    const isTraced = process !== "cli";
    const tracer = await openTracer(isTraced ? config.tracing : { ...config.tracing, endpoint: undefined }, {
      log,
      metrics,
      version: config.version,
      name: process,
      id: processId,
    });
    closers.push(() => tracer.close(SPANS_DEADLINE_MS));
    const redisTarget = await findRedis(config.redis, STORES_DEADLINE_MS);
    if (redisTarget.mode === "cluster" && config.redis.mode === undefined) {
      log.info("REDIS_URL is one node of a cluster; name more of them");
    }
    const openRedis = isProducer ? openProducerRedis : openWorkerRedis;
    const redis = openRedis(redisTarget);
    watchConnection(redis, log, "redis connection");
    closers.push(async () => redis.disconnect());
    await whenReady(redis, STORES_DEADLINE_MS);
    const warn = (line: string) => log.warn(line);
    // Not for the command line, which must be able to look at such an installation.
    if (process !== "cli") {
      const channel = keys.eventFeed("probe");
      await rejectUnusableRedis(redis, { channel, warn, deadlineMs: STORES_DEADLINE_MS });
    }
    const storeClock = await StoreClock.open(redis);
    closers.push(async () => storeClock.close());
    const clock = overrides.clock ?? storeClock.now;
    const redisSince = watchLosses(redis, clock);
    const mongo = await openMongo(config.mongodbUrl, {
      producer: isProducer,
      deadlineMs: STORES_DEADLINE_MS,
      process,
      ...(process !== "cli" && { warn }),
    });
    closers.push(() => mongo.close());
    let writer = redis;
    let replicas = NO_REPLICAS;
    if (config.acceptReplicas > 0) {
      // Of its own: a wait for replicas holds up what is sent after it over the same connection.
      const opened = openRedis(redisTarget);
      replicas = openReplicas(opened, config.acceptReplicas, metrics);
      watchConnection(opened, log, "redis connection for writes");
      closers.push(async () => opened.disconnect());
      await whenReady(opened, STORES_DEADLINE_MS);
      writer = opened;
    }
    const shards = await KeptShards.open(allQueues, {
      redis: writer,
      keys,
      prefix: config.redisPrefix,
      // The command line must not change what it looks at.
      wanted: process === "cli" ? {} : config.queueShards,
      log,
      deadlineMs: STORES_DEADLINE_MS,
    });
    closers.push(() => shards.close());
    const stores = storeHosts({ redis, redisTarget, mongo, mongodbUrl: config.mongodbUrl });
    const mailServers = config.mail ? [config.mail.server] : [];
    const { egressProxy: proxy } = config;
    const operators = [...collectorHosts(config.tracing), ...mailServers, ...(proxy ? [proxy] : [])];
    const blockedHosts = () => [...stores(), ...operators];
    const openEgress = (allow: readonly string[], through: EgressProxy | undefined) => {
      const opened = createEgress({
        ...config.egress,
        allow,
        blockedHosts,
        proxy: through,
        connectTimeoutMs: Math.min(10_000, config.deliveries.timeoutMs),
        userAgent: `Headwater/${config.version}`,
      });
      closers.push(() => opened.close());
      return opened;
    };
    const egress = openEgress(config.egressAllow, proxy);
    // A provider on a network of the operator's own is not beyond the proxy.
    const openEgressToProvider = (allow: readonly string[]) =>
      openEgress(allow, allow.length > 0 ? undefined : proxy);
    const lastingConnections = new LastingConnections({
      most: LIMITS.destinationConnections.value,
      idleMs: LIMITS.destinationIdleMs.value,
    });
    closers.push(async () => lastingConnections.close());
    const openid =
      config.openid &&
      new OpenIdProvider(config.openid, { egress: openEgressToProvider(config.openid.egressAllow), clock });
    const activity = new Activity({ mongo, redis, keys, clock });
    activity.start();
    closers.push(() => activity.close());
    const queued = openQueuedBytes(redis, keys);
    const memory = openMemoryShare(redis, LIMITS.redisHighWaterPercent.value / 100);
    let feed: Feed | undefined;
    closers.push(async () => feed?.close());
    const replies = openOnce(() =>
      openReplies(openSubscriber({ redis, redisTarget, log }), redis, keys, processId),
    );
    // Not awaited: while Redis is away it can't open.
    closers.push(
      async () =>
        void replies
          .current()
          ?.then(opened => opened.close())
          .catch(() => undefined),
    );
    const sandboxHealth = new SandboxHealth();
    const openHost = overrides.openSandboxes ?? openSandboxes;
    const sandboxes = openOnce(() =>
      openHost({
        limits: sandboxLimits(config),
        maxProcesses: config.sandbox.processes,
        warm: warmRoom(config.sandbox.memoryMb),
        sourcesPerProcess: LIMITS.sharedSources.value,
        idleMs: LIMITS.sandboxIdleMs.value,
        firstUserId: config.sandbox.firstUserId,
        egress: { ...config.egress, allow: config.sandboxEgressAllow, blockedHosts },
        logger: log,
        metrics,
        health: sandboxHealth,
      }).catch((error: unknown) => {
        log.error({ err: error }, "sandboxes can't be opened");
        sandboxHealth.startFailed(error);
        throw new AppError("unavailable", "no sandbox can be started", { cause: error, retryAfterMs: 5000 });
      }),
    );
    closers.push(async () => (await sandboxes.current())?.close());
    return {
      config,
      log,
      clock,
      processId,
      mongo,
      redis,
      redisSince,
      redisTarget,
      keys,
      queues: shards.queues,
      shards,
      eventLog: openEventLog({ redis, keys, mongo }),
      routing: openRoutingCache(redis, keys),
      queued,
      memory,
      runQueue: openRunQueue(writer, keys, { clock, queued, memory }),
      replicas,
      permits: openPermits(redis, keys),
      secrets: createSecrets(config.secretsKeys),
      metrics,
      tracer,
      activity,
      egress,
      lastingConnections,
      openid,
      sandboxHealth,
      sandboxes: () => sandboxes.get(),
      feed: async () => {
        feed ??= openFeed(openSubscriber({ redis, redisTarget, log }));
        return feed;
      },
      replies: () => inProducerTime(replies.get()),
      close,
    };
  } catch (error) {
    await close();
    throw asLackOfRights(error) ?? error;
  }
}

/** Opens a separate client: a subscribed client accepts no other commands. */
export function openSubscriber(platform: {
  redis: RedisClient;
  redisTarget: RedisTarget;
  log: Logger;
}): RedisClient {
  const subscriber = openSubscriberRedis(platform.redisTarget, platform.redis);
  watchConnection(subscriber, platform.log, "redis subscriber connection");
  return subscriber;
}

/** Logs when the connection is lost and when it is back; without a listener an `error` event would end the process. */
function watchConnection(redis: RedisClient, log: Logger, name: string): void {
  const warn = warnThrottled(log, `${name} lost`);
  let isLost = false;
  redis.on("error", error => {
    isLost = true;
    warn(error);
  });
  redis.on("ready", () => {
    if (isLost) log.info(`${name} is back`);
    isLost = false;
  });
}

/** Returns the limits of a run (docs/component-api.md#errors-logs-and-limits, docs/component-api.md#emit). */
export function sandboxLimits(config: Config) {
  return {
    wallMs: config.sandbox.runMs,
    heapMb: config.sandbox.heapMb,
    maxEmits: LIMITS.emits.value,
    maxEmitBytes: LIMITS.emitBytes.value,
    maxLogBytes: LIMITS.logBytes.value,
    maxDbBytes: LIMITS.databaseBytes.value,
  };
}
