// runs-long: npm test has test/store/connections/redis-failover.test.ts

import { expect } from "chai";
import type { Cluster } from "ioredis";
import { findRedis } from "../../../src/store/connections/find-redis.ts";
import { openProducerRedis, openWorkerRedis, whenReady } from "../../../src/store/connections/redis.ts";
import { testConfig } from "../../support/platform.ts";
import { openRedisCluster } from "../../support/redis-cluster.ts";
import type { RedisNode } from "../../support/redis-nodes.ts";
import { until } from "../../support/until.ts";

/** Timers that keep this process alive. */
const timers = () => process.getActiveResourcesInfo().filter(kind => kind === "Timeout").length;

describe("a client of a Redis Cluster", () => {
  it("keeps no process alive that closes it while it learns who has which slots", async () => {
    const cluster = await openRedisCluster({ replicas: 0 });
    try {
      const target = await findRedis(
        { ...testConfig({ REDIS_URL: cluster.url }).redis, mode: "cluster" },
        20_000,
      );
      const before = timers();
      const client = openProducerRedis(target);
      client.on("error", () => undefined);
      await whenReady(client, 20_000);
      for (const node of cluster.nodes) node.freeze();
      try {
        await until(() => (client as unknown as { isRefreshing: boolean }).isRefreshing, {
          what: "a refresh",
        });
        client.disconnect();
        await until(() => client.status === "end", { what: "the end of the client" });
        await until(() => timers() <= before, { what: "no timer" });
      } finally {
        for (const node of cluster.nodes) node.thaw();
      }
    } finally {
      await cluster.close();
    }
  });

  it("ends, its copy too, although a server named another node in between, and connects again", async () => {
    const cluster = await openRedisCluster({ replicas: 0 });
    const target = await findRedis(testConfig({ REDIS_URL: cluster.url }).redis, 20_000);
    const client = openWorkerRedis(target) as Cluster;
    const copy = client.duplicate();
    try {
      for (const one of [client, copy]) {
        one.on("error", () => undefined);
        await whenReady(one, 20_000);
        one.disconnect();
        // What ioredis does when a server responds with MOVED.
        const { connectionPool } = one as unknown as {
          connectionPool: { findOrCreate(node: { host: string; port: number }): void };
        };
        connectionPool.findOrCreate({ host: "localhost", port: cluster.nodes[0]?.port ?? 0 });
        await until(() => one.status === "end", { what: "the end of the client" });
        await one.connect();
        expect(await one.set("again", "x")).to.equal("OK");
      }
    } finally {
      for (const one of [client, copy]) one.disconnect();
      await cluster.close();
    }
  });

  it("is connected at the second try if the cluster can't serve at the first", async () => {
    const cluster = await openRedisCluster({ replicas: 0, nodeTimeoutMs: 500 });
    const [node, other] = cluster.nodes as [RedisNode, RedisNode];
    const target = await findRedis(testConfig({ REDIS_URL: cluster.url }).redis, 20_000);
    const client = openWorkerRedis(target) as Cluster;
    client.on("error", () => undefined);
    try {
      await whenReady(client, 20_000);
      client.disconnect();
      await until(() => client.status === "end", { what: "the end of the client" });
      await node.kill();
      const isDown = async () => String(await other.ask("CLUSTER", "INFO")).includes("cluster_state:fail");
      await until(isDown, { what: "a cluster that can't serve" });
      let closed = 0;
      client.on("close", () => {
        closed += 1;
      });
      const connecting = client.connect();
      await until(() => closed > 0, { what: "a try in vain" });
      await node.start();
      await connecting;
      expect(await client.set("again", "x")).to.equal("OK");
    } finally {
      client.disconnect();
      await cluster.close();
    }
  });
});
