import { expect } from "chai";
import { findRedis } from "../../../src/store/connections/find-redis.ts";
import {
  openProducerRedis,
  openSubscriberRedis,
  openWorkerRedis,
  type RedisClient,
  whenReady,
} from "../../../src/store/connections/redis.ts";
import { testConfig } from "../../support/platform.ts";
import { openRedisCluster } from "../../support/redis-cluster.ts";
import type { RedisNode } from "../../support/redis-nodes.ts";
import { openWatchedRedis } from "../../support/redis-sentinels.ts";
import { until } from "../../support/until.ts";

/** In a slot of the first master, the second, and the third. */
const KEYS = ["{b}:failover", "{c}:failover", "{a}:failover"];

describe("a Redis master that hangs", () => {
  /** Freezes a master, and expects each kind of client to write to the one that replaces it. */
  async function survives(
    url: string,
    masterOf: () => Promise<RedisNode>,
    isReplaced: (old: RedisNode) => Promise<boolean>,
  ): Promise<void> {
    const target = await findRedis(testConfig({ REDIS_URL: url }).redis, 20_000);
    const clients: RedisClient[] = [openProducerRedis(target), openWorkerRedis(target)];
    const heard: string[] = [];
    const ready = async (client: RedisClient) => {
      client.on("error", () => undefined);
      await whenReady(client, 20_000);
    };
    try {
      for (const client of clients) await ready(client);
      const subscriber = openSubscriberRedis(target, clients[0] as RedisClient);
      clients.push(subscriber);
      await ready(subscriber);
      subscriber.on("message", (_channel, message: string) => heard.push(message));
      await subscriber.subscribe("failover");
      for (const client of clients.slice(0, 2)) for (const key of KEYS) await client.set(key, "before");
      const old = await masterOf();
      old.freeze();
      try {
        await until(() => isReplaced(old), { what: "another master" });
        for (const [i, client] of clients.slice(0, 2).entries()) {
          for (const key of KEYS) {
            // A producer's command fails until then; a worker's waits.
            await until(() => client.set(key, `after ${i}`), { what: `a write of client ${i}` });
          }
        }
        await until(
          async () => {
            await clients[0]?.publish("failover", "again");
            return heard.length > 0;
          },
          { what: "a message" },
        );
      } finally {
        old.thaw();
      }
      expect(await Promise.all(KEYS.map(key => clients[1]?.get(key)))).to.deep.equal(
        KEYS.map(() => "after 1"),
      );
    } finally {
      for (const client of clients) client.disconnect();
    }
  }

  it("of a cluster is replaced, and every client goes on with the new one @long", async () => {
    const cluster = await openRedisCluster({ nodeTimeoutMs: 1000 });
    try {
      await survives(
        cluster.url,
        async () => (await cluster.masters())[0] as RedisNode,
        async old => {
          const masters = await cluster.masters();
          return masters.length === 3 && !masters.includes(old);
        },
      );
    } finally {
      await cluster.close();
    }
  });

  it("behind Sentinels is replaced, and every client goes on with the new one @long", async () => {
    const watched = await openWatchedRedis();
    try {
      await survives(
        watched.url,
        () => watched.master(),
        async old => (await watched.master()) !== old,
      );
    } finally {
      await watched.close();
    }
  });
});
