import { findRedis } from "../../src/store/find-redis.ts";
import { openProducerRedis, whenReady } from "../../src/store/redis.ts";
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
});
