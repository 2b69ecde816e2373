import { Cluster, Redis, type RedisOptions } from "ioredis";

/** One server, or a cluster when several urls are configured. */
export type RedisClient = Redis | Cluster;

function connect(urls: string[], options: RedisOptions): RedisClient {
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

/** Fast at first, so that a restart of Redis costs little; then a second apart, so that an outage is no hot loop. */
const retryStrategy = (times: number) => Math.min(50 * 2 ** Math.min(times, 5), 1000);

/** For producers: with Redis away a command fails at once, so that an API caller hears 503 instead of waiting. */
export function openProducerRedis(urls: string[]): RedisClient {
  return connect(urls, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy,
    lazyConnect: false,
  });
}

/** For workers and subscribers: with Redis away a command waits until it is back. */
export function openWorkerRedis(urls: string[]): RedisClient {
  return connect(urls, { enableOfflineQueue: true, maxRetriesPerRequest: null, retryStrategy });
}

/** Waits until the client is ready; throws when `deadlineMs` have passed (BullMQ itself would wait for ever). */
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
        () => reject(new Error(`Redis did not answer (${last?.message ?? "no error"})`)),
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

/** Throws with what is wrong when Redis takes no write or may evict: PING answers in both cases (field.md, no. 5). */
export async function probeRedis(client: RedisClient, key: string): Promise<void> {
  await client.set(key, Date.now().toString(), "EX", 60);
  const [info] =
    client instanceof Cluster
      ? await Promise.all(client.nodes("master").map(node => node.info("memory")))
      : [await client.info("memory")];
  const policy = /maxmemory_policy:(\S+)/.exec(info ?? "")?.[1];
  if (policy && policy !== "noeviction")
    throw new Error(`Redis may evict keys: maxmemory-policy is ${policy}, must be noeviction`);
}
