import { Cluster, type Command, Redis, type RedisOptions, ReplyError } from "ioredis";
import { withDeadline } from "../lib/deadline.ts";
import { AppError } from "../lib/errors.ts";
import { joinWrites } from "./join-writes.ts";

/** One server, or a cluster if several URLs are configured. */
export type RedisClient = Redis | Cluster;

function connect(urls: string[], options: RedisOptions): RedisClient {
  const client = clientOf(urls, options);
  joinWrites(client);
  return client;
}

function clientOf(urls: string[], options: RedisOptions): RedisClient {
  const [first = ""] = urls;
  if (urls.length === 1) return new Redis(first, options);
  const { username, password } = new URL(first);
  return new Cluster(urls, {
    enableOfflineQueue: options.enableOfflineQueue ?? true,
    redisOptions: {
      ...options,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
    },
  });
}

/** Fast at first, so that a restart of Redis costs little; then a second apart, so that an outage causes no hot loop. */
const retryStrategy = (times: number) => Math.min(50 * 2 ** Math.min(times, 5), 1000);

/** How long a producer waits for the reply to a command, because a server may hang with its connections open. */
const PRODUCER_TIMEOUT_MS = 1500;

/**
 * Opens a client for a producer: while Redis is away a command fails at once with `unavailable`, so that an API caller gets
 * a 503 instead of waiting.
 */
export function openProducerRedis(urls: string[]): RedisClient {
  const client = connect(urls, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: PRODUCER_TIMEOUT_MS,
    retryStrategy,
    lazyConnect: false,
  });
  return failingAs(client, asUnavailable);
}

/** Opens a client for a worker or subscriber: while Redis is away a command waits until it is back. */
export function openWorkerRedis(urls: string[]): RedisClient {
  const client = connect(urls, { enableOfflineQueue: true, maxRetriesPerRequest: null, retryStrategy });
  // Connection errors stay as they are: BullMQ recognises them by their class and retries.
  return failingAs(client, error => (isNotNow(error) ? unavailable(error) : error));
}

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
  return AWAY_MESSAGES.has(error.message) || error.message.startsWith("Too many Cluster redirections.");
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

/** The one place where a Redis that is away becomes `unavailable`: every command of the client passes through it. */
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
        () => reject(new Error(`Redis did not respond (${last?.message ?? "no error"})`)),
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

/** What `INFO memory` says, of each master. */
async function memoryInfos(client: RedisClient): Promise<string[]> {
  if (!(client instanceof Cluster)) return [await client.info("memory")];
  return await Promise.all(client.nodes("master").map(node => node.info("memory")));
}

/** Returns the share of its memory that the fullest Redis master uses: of `maxmemory`, or of the machine's memory. */
export async function readMemoryShare(client: RedisClient): Promise<number> {
  const shares = (await memoryInfos(client)).map(info => {
    const bytes = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0);
    const limit = bytes("maxmemory") || bytes("total_system_memory");
    return limit === 0 ? 0 : bytes("used_memory") / limit;
  });
  return Math.max(0, ...shares);
}

/** Throws with what is wrong if Redis takes no writes or may evict keys: PING succeeds in both cases. */
export async function probeRedis(client: RedisClient, key: string): Promise<void> {
  await client.set(key, Date.now().toString(), "EX", 60);
  await rejectEviction(client);
}

/** Throws if a Redis master may evict keys: it would lose jobs as soon as its memory is full (docs/design.md#stores). */
export async function rejectEviction(client: RedisClient): Promise<void> {
  const policies = (await memoryInfos(client)).map(info => /maxmemory_policy:(\S+)/.exec(info)?.[1]);
  const policy = policies.find(one => one !== undefined && one !== "noeviction");
  if (!policy) return;
  throw new Error(`Redis may evict keys: maxmemory-policy is ${policy}, must be noeviction`);
}
