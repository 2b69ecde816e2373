import { type NodeOptions, openRedisNodes, type RedisNode } from "./redis-nodes.ts";
import { until } from "./until.ts";

/** By what name the Sentinels know their master. */
export const MASTER = "main";

/** A Redis with replicas and the Sentinels that watch it, of this test alone. */
export interface WatchedRedis {
  /** The Sentinels, as a setting. */
  url: string;
  servers: RedisNode[];
  sentinels: RedisNode[];
  caFile: string;
  /** The server that all Sentinels which respond call master now. Throws while they disagree. */
  master(): Promise<RedisNode>;
  /** Waits until the Sentinels agree on a master that all other servers follow. */
  whole(): Promise<void>;
  close(): Promise<void>;
}

interface SentinelOptions extends NodeOptions {
  replicas?: number;
  sentinels?: number;
  /** After how long a master that does not respond is replaced. Milliseconds. */
  downAfterMs?: number;
}

/** Starts a Redis with replicas and Sentinels; by default two and three. A `password` is for the servers. */
export async function openWatchedRedis(options: SentinelOptions = {}): Promise<WatchedRedis> {
  const { replicas = 2, sentinels: watchers = 3, downAfterMs = 1500, password, tls } = options;
  const nodes = await openRedisNodes();
  const args = [
    ...["--repl-diskless-sync-delay", "0"],
    ...(password === undefined ? [] : ["--requirepass", password, "--masterauth", password]),
    ...(options.args ?? []),
  ];
  try {
    const servers = await Promise.all(
      Array.from({ length: 1 + replicas }, () => nodes.server({ ...options, args })),
    );
    const [first, ...others] = servers as [RedisNode, ...RedisNode[]];
    for (const other of others) await other.ask("REPLICAOF", "127.0.0.1", first.port);
    const lines = [
      `sentinel monitor ${MASTER} 127.0.0.1 ${first.port} ${Math.floor(watchers / 2) + 1}`,
      `sentinel down-after-milliseconds ${MASTER} ${downAfterMs}`,
      `sentinel failover-timeout ${MASTER} 5000`,
      ...(password === undefined ? [] : [`sentinel auth-pass ${MASTER} ${password}`]),
    ];
    const sentinels = await Promise.all(
      Array.from({ length: watchers }, () => nodes.sentinel(lines, { ...(tls && { tls }) })),
    );
    const addresses = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",");
    const user = password === undefined ? "" : `:${password}@`;
    const redis = {
      url: `redis${tls ? "s" : ""}+sentinel://${user}${addresses}/${MASTER}`,
      ...{ servers, sentinels, caFile: nodes.caFile },
      async master() {
        const port = await agreedPort(sentinels);
        const found = servers.find(server => server.port === port);
        if (!found) throw new Error(`no server has the port ${port}`);
        return found;
      },
      whole: () => untilWhole(servers, sentinels),
      close: nodes.close,
    };
    await redis.whole();
    return redis;
  } catch (error) {
    await nodes.close();
    throw error;
  }
}

async function masterPort(sentinel: RedisNode): Promise<number> {
  const [, port] = (await sentinel.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER)) as string[];
  return Number(port);
}

/** Those that learn of a new master late still send clients to the old one, so that it must not come back yet. */
async function agreedPort(sentinels: RedisNode[]): Promise<number> {
  const asked = await Promise.all(sentinels.map(one => masterPort(one).catch(() => undefined)));
  const [port, ...others] = new Set(asked.filter(one => one !== undefined));
  if (port === undefined) throw new Error("no Sentinel responds");
  if (others.length > 0) throw new Error(`the Sentinels name several masters: ${asked.join(", ")}`);
  return port;
}

/**
 * A Sentinel watches a server that comes back as a master for four of its announcements before it makes a replica of it: eight
 * seconds, in which nothing of ours is tried. One that was restarted has the usual times again.
 */
const OFTEN = ["info-period", 1000, "publish-period", 500] as const;

async function untilWhole(servers: RedisNode[], sentinels: RedisNode[]): Promise<void> {
  // Redis 6.2 can't be told.
  for (const sentinel of sentinels) await sentinel.ask("SENTINEL", "DEBUG", ...OFTEN).catch(() => undefined);
  await until(
    async () => {
      const ports = await Promise.all(sentinels.map(masterPort));
      const master = servers.find(({ port }) => port === ports[0]);
      if (!master || new Set(ports).size > 1) return false;
      const info = String(await master.ask("INFO", "replication"));
      const isLinked = new RegExp(`connected_slaves:${servers.length - 1}\\s`).test(info);
      return (
        isLinked &&
        (await Promise.all(sentinels.map(one => knowsAll(one, servers, sentinels)))).every(Boolean)
      );
    },
    { what: "a master that Sentinels watch" },
  );
}

async function knowsAll(sentinel: RedisNode, servers: RedisNode[], sentinels: RedisNode[]): Promise<boolean> {
  const [row = []] = (await sentinel.ask("SENTINEL", "MASTERS")) as string[][];
  const field = (name: string) => row[row.indexOf(name) + 1];
  return (
    field("flags") === "master" &&
    Number(field("num-slaves")) >= servers.length - 1 &&
    Number(field("num-other-sentinels")) >= sentinels.length - 1
  );
}
