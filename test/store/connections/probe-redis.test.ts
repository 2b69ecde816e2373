import { expect } from "chai";
import { findRedis } from "../../../src/store/connections/find-redis.ts";
import { probeRedis, rejectEviction } from "../../../src/store/connections/probe-redis.ts";
import { openProducerRedis, type RedisClient, whenReady } from "../../../src/store/connections/redis.ts";
import { testConfig } from "../../support/platform.ts";
import { openRedisCluster, type RedisCluster } from "../../support/redis-cluster.ts";
import type { RedisNode } from "../../support/redis-nodes.ts";
import { until } from "../../support/until.ts";

const KEY = "probe-test";

describe("the probe of a Redis Cluster", () => {
  let cluster: RedisCluster;
  let redis: RedisClient;
  before(async () => {
    cluster = await openRedisCluster({ replicas: 0, nodeTimeoutMs: 500 });
    redis = openProducerRedis(await findRedis(testConfig({ REDIS_URL: cluster.url }).redis, 10_000));
    redis.on("error", () => undefined);
    await whenReady(redis, 10_000);
  });
  after(async () => {
    redis?.disconnect();
    await cluster?.close();
  });

  const probe = () =>
    probeRedis(redis, KEY).then(
      () => "ready",
      (error: Error) => error.message,
    );
  const isReady = () => until(async () => (await probe()) === "ready", { what: "ready again" });

  it("writes to each master", async () => {
    await isReady();
    for (const node of cluster.nodes) {
      expect(await node.ask("KEYS", `${KEY}*`), `keys of ${node.url}`).to.have.length(1);
    }
  });

  for (const [what, setting, wrong, right, wanted] of [
    ["may evict keys", "maxmemory-policy", "allkeys-lru", "noeviction", /maxmemory-policy is allkeys-lru/],
    ["is full", "maxmemory", "1000000", "0", /can't be reached/],
  ] as const) {
    it(`fails if only one master ${what}`, async () => {
      for (const node of cluster.nodes) {
        await node.ask("CONFIG", "SET", setting, wrong);
        expect(await probe()).to.match(wanted);
        await node.ask("CONFIG", "SET", setting, right);
        expect(await probe()).to.equal("ready");
      }
      await rejectEviction(redis);
    });
  }

  it("fails while a master is away, and is ready when it is back @long", async () => {
    const last = cluster.nodes.at(-1) as RedisNode;
    await last.kill();
    await until(async () => (await probe()) !== "ready", { what: "not ready" });
    await last.start();
    await isReady();
  });
});
