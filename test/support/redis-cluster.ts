import { Command } from "ioredis";
import { type NodeOptions, openRedisNodes, type RedisNode } from "./redis-nodes.ts";
import { until } from "./until.ts";

const SLOTS = 16_384;

/** A Redis Cluster of this test alone. */
export interface RedisCluster {
  /** The nodes that were masters at the start, as a setting. */
  url: string;
  nodes: RedisNode[];
  caFile: string;
  /** The nodes that are masters now, in the order of `nodes`. */
  masters(): Promise<RedisNode[]>;
  /** Waits until each of so many masters has a replica that follows it, and every node says that all is well. */
  whole(): Promise<void>;
  /** Moves so many slots, of those that hold keys, from their master to the next; returns how many there were. */
  moveSlots(most: number): Promise<number>;
  close(): Promise<void>;
}

interface ClusterOptions extends NodeOptions {
  masters?: number;
  /** Of each master. */
  replicas?: number;
  /** After how long a node that does not respond counts as failed. Milliseconds. */
  nodeTimeoutMs?: number;
}

const infoField = (info: unknown, name: string) => new RegExp(`^${name}:(\\S+)`, "m").exec(String(info))?.[1];

/** Starts a Redis Cluster; by default of three masters with a replica each. */
export async function openRedisCluster(options: ClusterOptions = {}): Promise<RedisCluster> {
  const { masters = 3, replicas = 1, nodeTimeoutMs = 2000 } = options;
  const { server, close, caFile } = await openRedisNodes();
  const args = [
    ...["--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf"],
    ...["--cluster-node-timeout", String(nodeTimeoutMs), "--repl-diskless-sync-delay", "0"],
    // A replica whose link broke may still replace its master: there is only one.
    ...["--cluster-replica-validity-factor", "0"],
    ...(options.tls ? ["--tls-cluster", "yes"] : []),
    ...(options.args ?? []),
  ];
  try {
    const count = masters * (1 + replicas);
    const nodes = await Promise.all(Array.from({ length: count }, () => server({ ...options, args })));
    await join(nodes, masters);
    const cluster: RedisCluster = {
      url: nodes
        .slice(0, masters)
        .map(({ url }) => url)
        .join(","),
      nodes,
      caFile,
      async masters() {
        const roles = await Promise.all(nodes.map(roleOf));
        return nodes.filter((_, i) => roles[i] === "master");
      },
      whole: () => untilWhole(nodes, masters, replicas),
      moveSlots: async most => await moveSlots(await cluster.masters(), most),
      close,
    };
    await cluster.whole();
    return cluster;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns `master` or `slave`; undefined if the node is away. */
async function roleOf(node: RedisNode): Promise<string | undefined> {
  try {
    return infoField(await node.ask("INFO", "replication"), "role");
  } catch {
    return undefined;
  }
}

async function join(nodes: RedisNode[], masters: number): Promise<void> {
  for (const [i, node] of nodes.entries()) {
    await node.ask("CLUSTER", "SET-CONFIG-EPOCH", i + 1);
    if (i >= masters) continue;
    const from = Math.floor((i * SLOTS) / masters);
    const to = Math.floor(((i + 1) * SLOTS) / masters) - 1;
    await node.ask("CLUSTER", "ADDSLOTSRANGE", from, to);
  }
  const [first, ...others] = nodes as [RedisNode, ...RedisNode[]];
  for (const { port } of others) await first.ask("CLUSTER", "MEET", "127.0.0.1", port);
  const ids = await Promise.all(nodes.map(async node => String(await node.ask("CLUSTER", "MYID"))));
  for (const [i, node] of nodes.entries()) {
    // A node can follow another one only once it knows it.
    const knowsAll = async () => {
      const text = String(await node.ask("CLUSTER", "NODES"));
      return ids.every(id => text.includes(id));
    };
    await until(knowsAll, { what: "the nodes to know each other" });
    if (i >= masters) await node.ask("CLUSTER", "REPLICATE", ids[i % masters] ?? "");
  }
}

async function untilWhole(nodes: RedisNode[], masters: number, replicas: number): Promise<void> {
  await until(
    async () => {
      const infos = await Promise.all(nodes.map(node => node.ask("CLUSTER", "INFO")));
      const isOk = infos.every(info => infoField(info, "cluster_state") === "ok");
      const replications = await Promise.all(nodes.map(node => node.ask("INFO", "replication")));
      const isLinked = replications.every(info =>
        infoField(info, "role") === "master"
          ? Number(infoField(info, "connected_slaves")) >= replicas
          : infoField(info, "master_link_status") === "up",
      );
      const count = replications.filter(info => infoField(info, "role") === "master").length;
      return isOk && isLinked && count === masters;
    },
    { what: "a whole cluster" },
  );
}

const KEYS_AT_ONCE = 50;
const MIGRATE_MS = 5000;

/** As `redis-cli --cluster reshard` does it, slot by slot, while clients go on. */
async function moveSlots(masters: RedisNode[], most: number): Promise<number> {
  const moves: { slot: number; from: RedisNode; to: RedisNode }[] = [];
  for (const [i, from] of masters.entries()) {
    const to = masters[(i + 1) % masters.length] as RedisNode;
    const slots = await slotsWithKeys(from);
    for (const slot of slots.slice(0, Math.ceil(most / masters.length))) moves.push({ slot, from, to });
  }
  for (const { slot, from, to } of moves) {
    const [fromId, toId] = await Promise.all(
      [from, to].map(async one => String(await one.ask("CLUSTER", "MYID"))),
    );
    await to.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", fromId ?? "");
    await from.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", toId ?? "");
    await moveKeys(slot, from, to);
    const own = (one: RedisNode) => one.ask("CLUSTER", "SETSLOT", slot, "NODE", toId ?? "");
    await own(to);
    // The old master keeps a slot while it has a key of it.
    await until(
      async () => {
        await moveKeys(slot, from, to);
        return await own(from);
      },
      { what: `slot ${slot} to be empty` },
    );
    for (const one of masters) if (one !== to && one !== from) await own(one);
  }
  return moves.length;
}

async function moveKeys(slot: number, from: RedisNode, to: RedisNode): Promise<void> {
  for (;;) {
    const keys = (await from.ask("CLUSTER", "GETKEYSINSLOT", slot, KEYS_AT_ONCE)) as string[];
    if (keys.length === 0) return;
    await from.ask("MIGRATE", "127.0.0.1", to.port, "", 0, MIGRATE_MS, "KEYS", ...keys);
  }
}

/** Slots of keys of one master, those with the most keys first. */
async function slotsWithKeys(master: RedisNode): Promise<number[]> {
  const counts = new Map<number, number>();
  let cursor = "0";
  do {
    const [next, keys] = (await master.ask("SCAN", cursor, "COUNT", 2000)) as [string, string[]];
    for (const key of keys) {
      const slot = new Command("get", [key]).getSlot();
      counts.set(slot, (counts.get(slot) ?? 0) + 1);
    }
    cursor = next;
  } while (cursor !== "0");
  return [...counts].sort(([, a], [, b]) => b - a).map(([slot]) => slot);
}
