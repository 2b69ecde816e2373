import { expect } from "chai";
import type { Cluster } from "ioredis";
import { findRedis } from "../../src/store/find-redis.ts";
import { openProducerRedis, openWorkerRedis, whenReady } from "../../src/store/redis.ts";
import { testConfig } from "../support/platform.ts";
import { openRedisCluster } from "../support/redis-cluster.ts";
import { until } from "../support/until.ts";

/** Timers that keep this process alive. */
const timers = () => process.getActiveResourcesInfo().filter(kind => kind === "Timeout").length;

describe("a client of a Redis Cluster", () => {
  it("keeps no process alive that closes it while it learns who has which slots", async () => {
    const cluster = await openRedisCluster({ replicas: 0 });
    try {
      const target = await findRedis(
        testConfig({ REDIS_URL: cluster.url, REDIS_MODE: "cluster" }).redis,
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
});
