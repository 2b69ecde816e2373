import { expect } from "chai";
import { findRedis } from "../../../src/store/connections/find-redis.ts";
import { openWorkerRedis, whenReady } from "../../../src/store/connections/redis.ts";
import { watchLosses } from "../../../src/store/connections/replicas.ts";
import { testConfig } from "../../support/platform.ts";
import { openRedisNodes } from "../../support/redis-nodes.ts";
import { until } from "../../support/until.ts";

describe("the moment since which a client has had its master", () => {
  it("is when the connection was last lost, and, once it is back, when that was", async () => {
    const nodes = await openRedisNodes();
    const server = await nodes.server();
    const client = openWorkerRedis(await findRedis(testConfig({ REDIS_URL: server.url }).redis, 20_000));
    client.on("error", () => undefined);
    try {
      await whenReady(client, 20_000);
      let now = 1000;
      const since = watchLosses(client, () => now);
      now = 2000;
      expect(await client.ping()).to.equal("PONG");
      expect(since(), "while it stays").to.equal(1000);

      await server.kill();
      await until(() => since() === 2000, { what: "the lost connection" });
      now = 3000;
      await server.start();
      await until(() => since() === 3000, { what: "the next connection" });
      now = 4000;
      expect(await client.ping()).to.equal("PONG");
      expect(since()).to.equal(3000);
    } finally {
      client.disconnect();
      await nodes.close();
    }
  });
});
