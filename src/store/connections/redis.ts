import "./fast-strings.ts";
import { Cluster, type Command, Redis, type RedisOptions, ReplyError } from "ioredis";
import { AppError } from "../../lib/errors.ts";
import { withDeadline } from "../../lib/time.ts";
import { tlsFor } from "./diagnose-redis.ts";
import { joinWrites } from "./join-writes.ts";
import type { RedisServer, RedisTarget } from "./redis-url.ts";
import { keepSteady, MasterConnector } from "./steady-clients.ts";

/** One server, or a cluster; a server that Sentinels watch is one server. */
export type RedisClient = Redis | Cluster;

/** How long a connection may take to open; a machine that is gone does not say so. */
const CONNECT_TIMEOUT_MS = 5000;
const SENTINEL_TIMEOUT_MS = 2000;
function connect(target: RedisTarget, given: RedisOptions): RedisClient {
  const client = clientOf(target, given);
  joinWrites(client);
  return client;
}

function clientOf(target: RedisTarget, given: RedisOptions): RedisClient {
  const { mode, servers, username, password, family, tls, database } = target;
  const [first = { host: "", port: 0 }] = servers;
  const options: RedisOptions = {
    ...given,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    family,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // A master that became a replica keeps its connections: the next one leads to the new master.
    reconnectOnError: error => error.message.startsWith("READONLY"),
  };
  if (mode === "cluster") {
    const cluster = new Cluster(
      servers.map(server => ({ ...server })),
      {
        enableOfflineQueue: given.enableOfflineQueue ?? true,
        redisOptions: { ...options, ...(tls && { tls: { ...tls } }) },
        // A certificate is for a name: it must not become an address before the connection.
        ...(tls && { dnsLookup: (host, callback) => callback(null, host) }),
      },
    );
    return keepSteady(cluster);
  }
  if (mode === "sentinel") return new Redis({ ...options, db: database, ...sentinelOptions(target) });
  return new Redis({ ...options, ...first, db: database, ...(tls && { tls: tlsFor(tls, first.host) }) });
}

function sentinelOptions(target: RedisTarget): RedisOptions {
  const { servers, masterName, sentinelUsername, sentinelPassword, tls } = target;
  return {
    sentinels: servers.map(server => ({ ...server })),
    name: masterName ?? "",
    ...(sentinelUsername !== undefined && { sentinelUsername }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(tls && { tls: { ...tls }, sentinelTLS: { ...tls }, enableTLSForSentinelMode: true }),
    sentinelCommandTimeout: SENTINEL_TIMEOUT_MS,
    sentinelRetryStrategy: retryStrategy,
    // Sentinels say that there is a new master; the connection to one that hangs would stay.
    failoverDetector: true,
    Connector: MasterConnector,
  };
}

/** Fast at first, so that a restart of Redis costs little; then a second apart, so that an outage causes no hot loop. */
const retryStrategy = (times: number) => Math.min(50 * 2 ** Math.min(times, 5), 1000);

/** How long a producer waits for the reply to a command, because a server may hang with its connections open. */
const PRODUCER_TIMEOUT_MS = 1500;
/** A connection with commands on which nothing arrives for so long is closed: its server may hang for ever. */
const PRODUCER_SILENCE_MS = 5000;
/** Longer than BullMQ's longest wait for a job, which is 10 s. */
const WORKER_SILENCE_MS = 12_000;

/**
 * Opens a client for a producer: while Redis is away a command fails at once with `unavailable`, so that an API caller gets
 * a 503 instead of waiting.
 */
export function openProducerRedis(target: RedisTarget): RedisClient {
  const client = connect(target, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: PRODUCER_TIMEOUT_MS,
    socketTimeout: PRODUCER_SILENCE_MS,
    retryStrategy,
  });
  return failingAs(client, asUnavailable);
}

/** Opens a client for a worker or subscriber: while Redis is away a command waits until it is back. */
export function openWorkerRedis(target: RedisTarget): RedisClient {
  const client = connect(target, {
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
    socketTimeout: WORKER_SILENCE_MS,
    retryStrategy,
  });
  // Connection errors stay as they are: BullMQ recognises them by their class and retries.
  return failingAs(client, error =>
    isNotNow(error) || isRedirectedInVain(error) ? unavailable(error) : error,
  );
}

const REDIRECTED_IN_VAIN = "Too many Cluster redirections.";

/**
 * Returns true for a command that the cluster could not serve for some 2 s, less than a failover takes: it fails although a
 * worker's client waits. A script that a new master does not know is sent again as a whole, by its error.
 */
const isRedirectedInVain = ({ message }: Error): boolean =>
  message.startsWith(REDIRECTED_IN_VAIN) && !message.includes("NOSCRIPT");

/** What ioredis says of a connection that is away; it has no class for most of these. */
const AWAY_MESSAGES = new Set([
  "Connection is closed.",
  "Connection is aborted",
  "Command aborted due to connection close",
  "Command timed out",
  "connect ETIMEDOUT",
  "Stream isn't writeable and enableOfflineQueue options is false",
  "Cluster isn't ready and enableOfflineQueue options is false",
  "Cluster is disconnected.",
  "Cluster is disconnecting.",
  "Cluster is ended.",
  "Node is disconnected",
  "None of startup nodes is available",
  "No master node is available for the pipeline",
]);
const AWAY_NAMES = new Set(["MaxRetriesPerRequestError", "ClusterAllFailedError"]);
/** Codes of a socket that could not be opened, or broke. */
const AWAY_CODES = new Set<unknown>([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT"],
  ...["ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN"],
]);

/** Returns true for the errors of a connection that is away, and for no others. */
function isAway(error: Error): boolean {
  if (error instanceof ReplyError) return false;
  if (AWAY_NAMES.has(error.name) || AWAY_CODES.has((error as NodeJS.ErrnoException).code)) return true;
  return AWAY_MESSAGES.has(error.message) || error.message.startsWith(REDIRECTED_IN_VAIN);
}

/** Error codes (the first word of a reply) of a server that can't serve now: full, loading, not a primary. */
const NOT_NOW = new Set([
  "OOM",
  "LOADING",
  "READONLY",
  "MISCONF",
  "MASTERDOWN",
  "CLUSTERDOWN",
  "NOREPLICAS",
  "BUSY",
]);

function isNotNow(error: Error): boolean {
  const [code = ""] = error.message.split(" ", 1);
  return error instanceof ReplyError && NOT_NOW.has(code);
}

/**
 * Returns `unavailable` for an error of a Redis that is away or can't serve now. Any other error is returned as it is: it
 * is about the command and its arguments, so that a later try would fail with it again.
 */
export function asUnavailable<E>(error: E): E | AppError {
  return error instanceof Error && (isAway(error) || isNotNow(error)) ? unavailable(error) : error;
}

function unavailable(error: Error): AppError {
  if (error instanceof AppError) return error;
  return new AppError("unavailable", "Redis can't be reached", { cause: error, retryAfterMs: 1000 });
}

/**
 * The one place where a Redis that is away becomes `unavailable`: every command of the client passes through it. ioredis has no hook
 * for the errors of commands (no upstream issue found, searched 2026-11-28).
 */
function failingAs(client: RedisClient, translate: (error: Error) => Error): RedisClient {
  const send = client.sendCommand.bind(client) as (...args: unknown[]) => unknown;
  client.sendCommand = (command: Command, ...rest: unknown[]) => {
    const { reject } = command;
    command.reject = error => reject(translate(error));
    return send(command, ...rest);
  };
  return client;
}

/**
 * Awaits a command of a worker's client, but only as long as a producer's caller waits. Throws `unavailable`; the command
 * may still be executed later.
 */
export async function inProducerTime<T>(command: Promise<T>): Promise<T> {
  return await withDeadline(command, PRODUCER_TIMEOUT_MS, () => unavailable(new Error("no reply in time")));
}

/** Waits until the client is ready; throws after `deadlineMs` (BullMQ itself would wait without end). */
export async function whenReady(client: RedisClient, deadlineMs: number): Promise<void> {
  if (client.status === "ready") return;
  let last: Error | undefined;
  const remember = (error: Error) => {
    last = error;
  };
  client.on("error", remember);
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`REDIS_URL: Redis did not respond (${last?.message ?? "no error"})`)),
        deadlineMs,
      );
      client.once("ready", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  } finally {
    client.off("error", remember);
  }
}

/** Returns a client for each server that holds keys: the masters of a cluster, or the one server. */
export const mastersOf = (client: RedisClient): Redis[] =>
  client instanceof Cluster ? client.nodes("master") : [client];

/** Returns what each master says of itself: a section of `INFO`, or what it says without one. */
export const infoOfMasters = (client: RedisClient, section?: string): Promise<string[]> =>
  Promise.all(mastersOf(client).map(node => (section === undefined ? node.info() : node.info(section))));

/** Returns a field of `INFO` or `CLUSTER INFO`; undefined if it has none of this name. */
export const fieldOf = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(.*?)\\s*$`, "m").exec(info)?.[1];

/**
 * Opens a client for messages, beside `redis`, the process's client for commands. In a cluster it is connected to one of the
 * nodes, each of which sends every message, and goes to another one if that is lost. It emits `close` then, because
 * messages may have been missed: ioredis' own client for clusters changes the node without a word.
 */
export function openSubscriberRedis(target: RedisTarget, redis: RedisClient): RedisClient {
  if (!(redis instanceof Cluster)) return openWorkerRedis(target);
  const first = someNode(redis, target);
  const subscriber = openWorkerRedis({ ...target, mode: "single", servers: [first] }) as Redis;
  // The client reads its options each time it connects.
  const moveOn = () => {
    const node = someNode(redis, target);
    Object.assign(subscriber.options, node, target.tls && { tls: tlsFor(target.tls, node.host) });
  };
  const isOurs = ({ options: { host, port } }: Redis) =>
    host === subscriber.options.host && port === subscriber.options.port;
  const leave = (node: Redis) => {
    // A node that hangs keeps its connections, and the cluster lists it no longer.
    if (isOurs(node) && subscriber.status === "ready") subscriber.disconnect(true);
  };
  redis.on("-node", leave);
  subscriber.on("close", moveOn);
  subscriber.on("end", () => redis.off("-node", leave));
  return subscriber;
}

/** Any node that the cluster lists now; one that the settings name while it lists none. */
function someNode(redis: Cluster, { servers }: RedisTarget): RedisServer {
  const listed = redis
    .nodes("all")
    .flatMap(({ options: { host, port } }) => (host && port ? [{ host, port }] : []));
  const nodes = listed.length > 0 ? listed : servers;
  return nodes[Math.floor(Math.random() * nodes.length)] ?? { host: "", port: 0 };
}
