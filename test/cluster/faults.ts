import { setTimeout as delay } from "node:timers/promises";
import type { RedisNode } from "../support/redis-nodes.ts";
import { until } from "../support/until.ts";
import type { ClusterLab } from "./lab.ts";

/** A fault that a test injects under load. */
export interface ClusterFault {
  title: string;
  /** Injects it; resolves when everything is whole again. */
  inject(lab: ClusterLab): Promise<void>;
  /** What was accepted a moment before may be lost: replication is asynchronous. */
  mayLose?: true;
  /** Also in the short form. */
  isShort?: true;
}

/** How long a server stays stopped after another one has replaced it. */
const STOPPED_MS = 15_000;
/** How long Redis replicates nothing before its master is killed. */
const CUT_MS = 1500;

/** Waits until another server is master in the place of this one, or of each of these. */
async function replaced({ redis }: ClusterLab, old: RedisNode, masters: number): Promise<void> {
  await until(
    async () => {
      const now = await redis.masters();
      return now.length >= masters && !now.includes(old);
    },
    { what: "another master" },
  );
}

async function killMaster(lab: ClusterLab, master: RedisNode, masters: number): Promise<void> {
  await master.kill();
  await replaced(lab, master, masters);
  await master.start();
  await lab.redis.whole();
}

async function killPrimary({ mongo }: ClusterLab): Promise<void> {
  const primary = await mongo.primary();
  await primary.kill();
  await mongo.primary();
  await primary.start();
  await mongo.whole();
}

const MONGO_FAULTS: ClusterFault[] = [
  { title: "MongoDB's primary: kill -9", isShort: true, inject: killPrimary },
  {
    title: "MongoDB's primary: replSetStepDown",
    async inject({ mongo }) {
      const primary = await mongo.primary();
      // The primary closes the connection on which it was told so.
      await mongo
        .command(primary, { replSetStepDown: 10, secondaryCatchUpPeriodSecs: 5 })
        .catch(() => undefined);
      await mongo.whole();
    },
  },
  {
    title: `MongoDB's primary: SIGSTOP for ${STOPPED_MS / 1000} s`,
    async inject({ mongo }) {
      const primary = await mongo.primary();
      primary.freeze();
      try {
        await delay(STOPPED_MS);
      } finally {
        primary.thaw();
      }
      await mongo.whole();
    },
  },
];

/** Freezes a master until another one has taken its place, and a while longer. */
async function freezeMaster(lab: ClusterLab): Promise<void> {
  const masters = await lab.redis.masters();
  const [master] = masters as [RedisNode];
  master.freeze();
  try {
    await replaced(lab, master, masters.length);
    await delay(STOPPED_MS);
  } finally {
    master.thaw();
  }
  await lab.redis.whole();
}

/** Stops replication to every replica of a cluster, kills a master after a while, and lets a replica that lags follow. */
async function killLagging(lab: ClusterLab): Promise<void> {
  const { redis } = lab;
  const masters = await redis.masters();
  const replicas = redis.servers.filter(server => !masters.includes(server));
  const setUser = (user: string) =>
    Promise.all(
      replicas.map(replica => replica.ask("CONFIG", "SET", "masteruser", user, "masterauth", user)),
    );
  await setUser("nobody");
  await Promise.all(masters.map(master => master.ask("CLIENT", "KILL", "TYPE", "replica")));
  await delay(CUT_MS);
  const [master] = masters as [RedisNode];
  await master.kill();
  await setUser("");
  await replaced(lab, master, masters.length);
  await master.start();
  await redis.whole();
}

export const ON_A_CLUSTER: ClusterFault[] = [
  {
    title: "each Redis master in turn: kill -9",
    async inject(lab) {
      const masters = await lab.redis.masters();
      for (const master of masters) await killMaster(lab, master, masters.length);
    },
  },
  {
    title: "one Redis master: kill -9",
    isShort: true,
    async inject(lab) {
      const masters = await lab.redis.masters();
      await killMaster(lab, masters[0] as RedisNode, masters.length);
    },
  },
  {
    title: "each replica in turn: CLUSTER FAILOVER",
    async inject({ redis }) {
      const masters = await redis.masters();
      for (const replica of redis.servers.filter(server => !masters.includes(server))) {
        await replica.ask("CLUSTER", "FAILOVER");
        await until(async () => (await redis.masters()).includes(replica), { what: "the failover" });
        await redis.whole();
      }
    },
  },
  { title: `a Redis master: SIGSTOP until ${STOPPED_MS / 1000} s after its failover`, inject: freezeMaster },
  ...MONGO_FAULTS,
  {
    title: "a Redis master and MongoDB's primary at once: kill -9",
    async inject(lab) {
      const masters = await lab.redis.masters();
      await Promise.all([killMaster(lab, masters[0] as RedisNode, masters.length), killPrimary(lab)]);
    },
  },
  {
    title: `no replication for ${CUT_MS / 1000} s, then kill -9 of a Redis master`,
    mayLose: true,
    inject: killLagging,
  },
  {
    title: "the same with min-replicas-to-write 1",
    async inject(lab) {
      const { servers } = lab.redis;
      const set = (count: number) =>
        Promise.all(servers.map(server => server.ask("CONFIG", "SET", "min-replicas-to-write", count)));
      await set(1);
      try {
        await killLagging(lab);
      } finally {
        await set(0);
      }
    },
  },
];

export const BEHIND_SENTINELS: ClusterFault[] = [
  {
    title: "the Redis master: kill -9",
    isShort: true,
    async inject(lab) {
      const [master] = (await lab.redis.masters()) as [RedisNode];
      await killMaster(lab, master, 1);
    },
  },
  {
    title: "a Sentinel, and then the master: kill -9",
    async inject(lab) {
      const [sentinel] = lab.redis.sentinels as [RedisNode];
      const [master] = (await lab.redis.masters()) as [RedisNode];
      await sentinel.kill();
      await master.kill();
      await replaced(lab, master, 1);
      await sentinel.start();
      // It still knows the old one.
      await replaced(lab, master, 1);
      await master.start();
      await lab.redis.whole();
    },
  },
  {
    title: `the Redis master: SIGSTOP until ${STOPPED_MS / 1000} s after its failover`,
    inject: freezeMaster,
  },
];
