import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import type { Supervised } from "../soak/processes.ts";
import type { RedisNode } from "../support/redis-nodes.ts";
import { until } from "../support/until.ts";
import {
  busiest,
  type ClusterFault,
  freezeMaster,
  killLagging,
  killMaster,
  killPrimary,
  moreArrive,
  replaced,
  STOPPED_MS,
  withReplicas,
} from "./fault.ts";

const seconds = (ms: number) => `${ms / 1000} s`;

/** What a master that is killed has confirmed, and not yet sent to its replica: a moment's work, if any. */
const A_MOMENT = 0.005;
/** What a replica without a processor for some moments had not read when its link broke. */
const A_LAG = 0.1;
/** So many workers are killed, one after another, whether the one before is back or not. */
const KILLS = 4;
const KILL_EVERY_MS = 5000;
/** Events that arrive after a fault, or between two, which shows that the others go on. */
const GOING_ON = 20;

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
    title: "MongoDB's primary: SIGSTOP until events arrive by another one",
    async inject(lab) {
      const { mongo } = lab;
      const primary = await mongo.primary();
      primary.freeze();
      try {
        // The one that is stopped does not say that it is the primary.
        await mongo.primary();
        await moreArrive(lab, GOING_ON);
      } finally {
        primary.thaw();
      }
      await mongo.whole();
    },
  },
];

const PROCESS_FAULTS: ClusterFault[] = [
  {
    title: `a random worker each ${seconds(KILL_EVERY_MS)}, ${KILLS} times: kill -9`,
    pace: 0.5,
    async inject(lab) {
      const workers = lab.processes.filter(({ kind }) => kind !== "web");
      for (let n = 0; n < KILLS; n++) {
        const worker = workers[Math.floor(Math.random() * workers.length)];
        // The interval is a part of the fault.
        const next = delay(KILL_EVERY_MS);
        await worker?.end("SIGKILL");
        worker?.start();
        await next;
      }
      for (const worker of workers) await worker.ready();
      await moreArrive(lab, GOING_ON);
    },
  },
  {
    title: "rolling restart of all processes, one of each kind at a time: SIGTERM",
    pace: 0.35,
    // As orchestrators do: each kind is replaced by itself, and beside the others.
    async inject({ processes }) {
      for (const number of ["1", "2"]) {
        const ended = processes.filter(({ name }) => name.endsWith(`-${number}`));
        await Promise.all(ended.map(restart));
      }
    },
  },
];

async function restart(one: Supervised): Promise<void> {
  expect(await one.end("SIGTERM"), `the exit code of ${one.name}`).to.equal(0);
  one.start();
  await one.ready();
}

/**
 * What replication had not copied is lost with a master, unless masters without replicas take no writes, or what is accepted is
 * confirmed by as many replicas as there are: with fewer, one that lacks it may become the master.
 */
const lagging = (replicas: number): ClusterFault[] => [
  {
    title: "no replication of what the busiest Redis master takes, then kill -9 of it",
    mayLose: 1,
    inject: killLagging,
  },
  {
    title: "the same with min-replicas-to-write 1",
    mayLose: A_LAG,
    inject: lab => withReplicas(lab, 1, () => killLagging(lab)),
  },
  {
    title: `the same with DURABLE_INGRESS=replicas:${replicas}`,
    settings: { DURABLE_INGRESS: `replicas:${replicas}` },
    inject: killLagging,
  },
  {
    title: "the same with DURABLE_INGRESS=mongodb",
    settings: { DURABLE_INGRESS: "mongodb" },
    mayReorder: true,
    inject: killLagging,
  },
];

export const BOTH_STORES: ClusterFault = {
  title: "a Redis master and MongoDB's primary at once: kill -9",
  mayLose: A_MOMENT,
  async inject(lab) {
    const masters = await lab.redis.masters();
    const master = await busiest(masters);
    await Promise.all([killMaster(lab, master, masters.length), killPrimary(lab)]);
  },
};

export const ON_A_CLUSTER: ClusterFault[] = [
  {
    title: "each Redis master in turn: kill -9",
    mayLose: A_MOMENT,
    async inject(lab) {
      const masters = await lab.redis.masters();
      for (const master of masters) await killMaster(lab, master, masters.length);
    },
  },
  {
    title: "a Redis master: kill -9",
    mayLose: A_MOMENT,
    isShort: "only",
    async inject(lab) {
      const masters = await lab.redis.masters();
      await killMaster(lab, await busiest(masters), masters.length);
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
  {
    title: "slots that hold keys move to other masters",
    async inject({ redis }) {
      expect(await redis.reshard(), "slots that were moved").to.be.above(3);
      await redis.whole();
    },
  },
  {
    title: `a Redis master: SIGSTOP for ${seconds(STOPPED_MS)}`,
    inject: lab => freezeMaster(lab, STOPPED_MS),
  },
  ...MONGO_FAULTS,
  BOTH_STORES,
  ...PROCESS_FAULTS,
  ...lagging(1),
];

export const BEHIND_SENTINELS: ClusterFault[] = [
  {
    title: "the Redis master: kill -9",
    mayLose: A_MOMENT,
    isShort: true,
    async inject(lab) {
      const [master] = (await lab.redis.masters()) as [RedisNode];
      await killMaster(lab, master, 1);
    },
  },
  {
    title: "a Sentinel, and then the master: kill -9",
    mayLose: A_MOMENT,
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
    title: `the Redis master: SIGSTOP for ${seconds(STOPPED_MS)}`,
    inject: lab => freezeMaster(lab, STOPPED_MS),
  },
  ...lagging(2),
];
