import { setTimeout as delay } from "node:timers/promises";
import type { RedisNode } from "../support/redis-nodes.ts";
import { until } from "../support/until.ts";
import type { ClusterLab } from "./lab.ts";

/** A fault that a test injects under load. */
export interface ClusterFault {
  title: string;
  /** Injects it; resolves when everything is whole again. */
  inject(lab: ClusterLab): Promise<void>;
  /** Of all processes, while the fault lasts. */
  settings?: Record<string, string>;
  /** The share of the usual requests a second, under a fault that keeps the processors busy itself; 1 unless it is given. */
  pace?: number;
  /** The share of what was accepted that may be lost, because replication is asynchronous. */
  mayLose?: number;
  /** What Redis has lost is enqueued again, behind what came later. */
  mayReorder?: true;
  /** In the short form too, or only there. */
  isShort?: true | "only";
}

/** How long a server stays stopped after another one has replaced it. */
export const STOPPED_MS = 15_000;
/** Bytes of writes that the busiest master has and no replica, before it is killed. */
const LAG_BYTES = 300_000;

/** Returns the master with the most commands a second: a fault of one that has nothing to do shows nothing. */
export async function busiest(masters: RedisNode[]): Promise<RedisNode> {
  const rates = await Promise.all(
    masters.map(async master => {
      const [, rate] =
        /instantaneous_ops_per_sec:(\d+)/.exec(String(await master.ask("INFO", "stats"))) ?? [];
      return { master, rate: Number(rate) };
    }),
  );
  rates.sort((a, b) => b.rate - a.rate);
  return (rates[0] as (typeof rates)[0]).master;
}

/** Waits until another server is master in the place of this one, or of each of these. */
export async function replaced({ redis }: ClusterLab, old: RedisNode, masters: number): Promise<void> {
  await until(
    async () => {
      const now = await redis.masters();
      return now.length >= masters && !now.includes(old);
    },
    { what: "another master" },
  );
}

/** kill -9 of a master, which comes back as a replica. */
export async function killMaster(lab: ClusterLab, master: RedisNode, masters: number): Promise<void> {
  lab.kills.push(Date.now());
  await master.kill();
  await replaced(lab, master, masters);
  await master.start();
  await lab.redis.whole();
}

/** Stops a master until another one has taken its place, and for `ms` in all at least. */
export async function freezeMaster(lab: ClusterLab, ms: number): Promise<void> {
  const masters = await lab.redis.masters();
  const master = await busiest(masters);
  master.freeze();
  try {
    await Promise.all([replaced(lab, master, masters.length), delay(ms)]);
  } finally {
    master.thaw();
  }
  await lab.redis.whole();
}

/**
 * Stops replication to every replica, kills the busiest master once it has taken writes that none of them has, or has rejected
 * some because of that, and lets a replica that lags take its place.
 */
export async function killLagging(lab: ClusterLab): Promise<void> {
  const { redis } = lab;
  const masters = await redis.masters();
  const master = await busiest(masters);
  const replicas = redis.servers.filter(server => !masters.includes(server));
  const signInWith = (user: string, password: string) =>
    Promise.all(
      replicas.map(replica => replica.ask("CONFIG", "SET", "masteruser", user, "masterauth", password)),
    );
  await signInWith("stranger", "stranger");
  try {
    await Promise.all(masters.map(one => one.ask("CLIENT", "KILL", "TYPE", "replica")));
    const atCut = await writesOf(master);
    const isAhead = async () => {
      const { bytes, rejected } = await writesOf(master);
      return bytes >= atCut.bytes + LAG_BYTES || rejected > atCut.rejected;
    };
    await until(isAhead, { what: "a master that is ahead of its replicas" });
    lab.kills.push(Date.now());
    await master.kill();
  } finally {
    await signInWith("", redis.password);
  }
  await replaced(lab, master, masters.length);
  await master.start();
  await redis.whole();
}

/** The bytes of all writes that a master has taken, and how many it has rejected because too few replicas follow it. */
async function writesOf(master: RedisNode): Promise<{ bytes: number; rejected: number }> {
  const [replication, errors] = await Promise.all([
    master.ask("INFO", "replication"),
    master.ask("INFO", "errorstats"),
  ]);
  const [, bytes = 0] = /master_repl_offset:(\d+)/.exec(String(replication)) ?? [];
  const [, rejected = 0] = /errorstat_NOREPLICAS:count=(\d+)/.exec(String(errors)) ?? [];
  return { bytes: Number(bytes), rejected: Number(rejected) };
}

/** Waits until so many more events have arrived. */
export async function moreArrive({ receiver }: ClusterLab, events: number): Promise<void> {
  const before = receiver.events();
  await until(() => receiver.events() >= before + events, { what: `${events} more arrivals` });
}

/** Does `work` while Redis takes writes only with this many replicas that follow. */
export async function withReplicas(
  { redis }: ClusterLab,
  count: number,
  work: () => Promise<void>,
): Promise<void> {
  const set = (replicas: number, maxLag: number) =>
    Promise.all(
      redis.servers.map(one =>
        one.ask("CONFIG", "SET", "min-replicas-to-write", replicas, "min-replicas-max-lag", maxLag),
      ),
    );
  await set(count, 2);
  try {
    await work();
  } finally {
    await set(0, 10);
  }
}

/** kill -9 of MongoDB's primary, which comes back as a secondary. */
export async function killPrimary({ mongo }: ClusterLab): Promise<void> {
  const primary = await mongo.primary();
  await primary.kill();
  await mongo.primary();
  await primary.start();
  await mongo.whole();
}
