import { expect } from "chai";
import { AppError } from "../../../src/lib/errors.ts";
import { Metrics } from "../../../src/metrics/metrics.ts";
import { findRedis } from "../../../src/store/connections/find-redis.ts";
import { openProducerRedis, type RedisClient, whenReady } from "../../../src/store/connections/redis.ts";
import { openReplicas, type Replicas } from "../../../src/store/connections/replicas.ts";
import { testConfig } from "../../support/platform.ts";
import { openRedisCluster, type RedisCluster } from "../../support/redis-cluster.ts";
import { openRedisNodes, type RedisNode, type RedisNodes } from "../../support/redis-nodes.ts";
import { until } from "../../support/until.ts";

const isShort = (error: unknown) =>
  error instanceof AppError && error.code === "unavailable" && error.message.includes("too few replicas");

async function open(url: string): Promise<{ redis: RedisClient; replicas: Replicas; metrics: Metrics }> {
  const redis = openProducerRedis(await findRedis(testConfig({ REDIS_URL: url }).redis, 20_000));
  redis.on("error", () => undefined);
  const metrics = new Metrics();
  const replicas = openReplicas(redis, 1, metrics);
  await whenReady(redis, 20_000);
  return { redis, replicas, metrics };
}

/** How often a server was asked to wait. */
async function waitsAt(node: RedisNode): Promise<number> {
  const info = String(await node.ask("INFO", "commandstats"));
  return Number(/^cmdstat_wait:calls=(\d+)/m.exec(info)?.[1] ?? 0);
}

const outcome = (done: Promise<unknown>) =>
  done.then(
    () => "held",
    (error: unknown) => (isShort(error) ? "short" : String(error)),
  );

describe("what replicas of Redis must hold before it is confirmed", () => {
  describe("behind one server", () => {
    let nodes: RedisNodes;
    let master: RedisNode;
    let replica: RedisNode;
    let redis: RedisClient;
    let replicas: Replicas;
    let metrics: Metrics;

    before(async () => {
      nodes = await openRedisNodes();
      [master, replica] = await Promise.all([nodes.server(), nodes.server()]);
      await replica.ask("REPLICAOF", "127.0.0.1", master.port);
      const isLinked = async () => /state=online/.test(String(await master.ask("INFO", "replication")));
      await until(isLinked, { what: "the replica" });
      ({ redis, replicas, metrics } = await open(master.url));
    });
    after(async () => {
      redis?.disconnect();
      await nodes?.close();
    });

    it("is held once it is confirmed", async () => {
      expect(await replicas.confirmed(() => redis.set("first", "1"))).to.equal("OK");
      expect(await replica.ask("GET", "first")).to.equal("1");
      expect((await metrics.expose()).body).to.match(
        /replica_wait_seconds_count\{[^}]*outcome="held"[^}]*\} 1\b/,
      );
    });

    it("is waited for once by all that write at the same time, and not at all by those that wrote nothing", async () => {
      const before = await waitsAt(master);
      await Promise.all(
        Array.from({ length: 50 }, (_, n) => replicas.confirmed(() => redis.set(`many-${n}`, n))),
      );
      expect((await waitsAt(master)) - before).to.be.within(1, 2);
      const then = await waitsAt(master);
      await replicas.confirm(replicas.begin());
      expect((await waitsAt(master)) - then).to.equal(0);
    });

    it("is not confirmed while the replica hangs, although it is written", async () => {
      replica.freeze();
      try {
        expect(await outcome(replicas.confirmed(() => redis.set("hung", "1")))).to.equal("short");
        expect(await master.ask("GET", "hung")).to.equal("1");
      } finally {
        replica.thaw();
      }
      await until(() => replicas.confirmed(() => redis.set("hung", "2")).then(() => true), {
        what: "held again",
      });
    });

    it("is not confirmed over another connection than the one that wrote", async () => {
      const write = async () => {
        await redis.set("broken", "1");
        await master.ask("CLIENT", "KILL", "TYPE", "normal");
        await until(() => redis.set("after", "1").catch(() => false), { what: "the next connection" });
      };
      expect(await outcome(replicas.confirmed(write))).to.equal("short");
    });
  });

  describe("of a cluster", () => {
    let cluster: RedisCluster;
    let redis: RedisClient;
    let replicas: Replicas;
    before(async () => {
      cluster = await openRedisCluster();
      ({ redis, replicas } = await open(cluster.url));
    });
    after(async () => {
      redis?.disconnect();
      await cluster?.close();
    });

    it("is asked of the masters that were written to, and of no other", async () => {
      const masters = await cluster.masters();
      const asked = async () => await Promise.all(masters.map(waitsAt));
      // In a slot of the first master, the second, and the third.
      for (const [i, key] of ["{b}", "{c}", "{a}"].entries()) {
        const before = await asked();
        await replicas.confirmed(() => redis.set(key, "1"));
        const after = await asked();
        expect(after.map((count, n) => count - (before[n] ?? 0))).to.deep.equal(
          masters.map((_, n) => (n === i ? 1 : 0)),
        );
      }
    });

    it("is not confirmed by the replicas of another master", async () => {
      const masters = await cluster.masters();
      const replicasOf = cluster.nodes.filter(node => !masters.includes(node));
      // Each follows the master of its number.
      replicasOf[0]?.freeze();
      try {
        expect(await outcome(replicas.confirmed(() => redis.set("{b}", "2")))).to.equal("short");
      } finally {
        replicasOf[0]?.thaw();
      }
    });
  });
});
