import { expect } from "chai";
import mongoose from "mongoose";
import { readiness } from "../../src/ops/health.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { startWeb, type WebServer } from "../../src/server.ts";
import { SCHEMA } from "../../src/store/schema/migrations.ts";
import { type OwnStores, openOwnStores } from "../support/own-stores.ts";
import { openTestPlatform, type TestPlatform, testConfig } from "../support/platform.ts";
import { until } from "../support/until.ts";

/** How long a load balancer waits for a health check. */
const TIMEOUT_MS = 5000;
const METRICS_TOKEN = "a-token-of-the-test";

describe("health of the web process", () => {
  let stores: OwnStores;
  let web: Platform;
  let server: WebServer;
  before(async () => {
    stores = await openOwnStores();
    const mongodb = new URL(stores.mongo.url);
    mongodb.pathname = "/health";
    const urls = { MONGODB_URL: mongodb.href, REDIS_URL: stores.redis.url };
    web = await openPlatform(testConfig({ ...urls, METRICS_TOKEN }), "web");
    server = await startWeb(web);
  });
  after(async () => {
    await server?.close();
    await web?.close();
    await stores?.close();
  });

  async function ask(path: string) {
    const url = `http://127.0.0.1:${server.port}${path}`;
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }
  /** Waits until the process says that it is not ready, which may be a second late; returns what is missing. */
  const becomesUnready = () =>
    until(async () => {
      const { status, body } = await ask("/readyz");
      return status === 503 && (body.missing as string[]);
    });
  const becomesReady = () =>
    until(async () => (await ask("/readyz")).status === 200, { what: "ready again" });

  it("is alive and ready while both stores accept writes", async () => {
    expect(await ask("/healthz")).to.deep.equal({ status: 200, body: { status: "ok" } });
    const schema = { database: SCHEMA, release: SCHEMA };
    expect(await ask("/readyz")).to.deep.equal({ status: 200, body: { status: "ready", schema } });
  });

  for (const name of ["redis", "mongo"] as const) {
    const storeName = name === "mongo" ? "mongodb" : "redis";

    it(`is alive but not ready while ${storeName} hangs, and says so in time`, async () => {
      stores[name].freeze();
      try {
        expect(await becomesUnready()).to.deep.equal([storeName]);
        expect((await ask("/healthz")).status).to.equal(200);
      } finally {
        stores[name].thaw();
      }
      await becomesReady();
    });

    it(`is ready again after ${storeName} was down @long`, async () => {
      await stores[name].kill();
      try {
        expect(await becomesUnready()).to.deep.equal([storeName]);
      } finally {
        await stores[name].start();
      }
      await becomesReady();
    });
  }

  it("is not ready while MongoDB takes no writes, although it responds and has a primary @long", async () => {
    await becomesReady();
    // As with a full disk, reads go on.
    await web.mongo.db?.admin().command({ fsync: 1, lock: true });
    try {
      await until(async () => (await ask("/readyz")).status === 503, { what: "not ready" });
      expect((await ask("/readyz")).body.missing).to.deep.equal(["mongodb"]);
      expect((await ask("/healthz")).status).to.equal(200);
    } finally {
      await web.mongo.db?.admin().command({ fsyncUnlock: 1 });
    }
    await becomesReady();
  });

  it("tests a write at most every few seconds, however often it is asked", async () => {
    const writes = async () => {
      const status = await web.mongo.db?.admin().command({ serverStatus: 1 });
      return Number(status?.opcounters.update);
    };
    await becomesReady();
    const before = await writes();
    await Promise.all(Array.from({ length: 200 }, () => ask("/readyz")));
    expect((await writes()) - before).to.be.below(20);
  });

  it("is not ready while Redis may evict keys, and no process starts then", async () => {
    await web.redis.call("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    try {
      expect(await becomesUnready()).to.deep.equal(["redis"]);
      for (const process of ["web", "runs"]) {
        const starting = openPlatform(web.config, process).then(
          () => "started",
          (error: Error) => error.message,
        );
        expect(await starting, process).to.equal(
          "REDIS_URL: Redis may evict keys: maxmemory-policy is allkeys-lru, but must be noeviction",
        );
      }
    } finally {
      await web.redis.call("CONFIG", "SET", "maxmemory-policy", "noeviction");
    }
    await becomesReady();
  });
});

describe("a store that is not ready", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  it("is returned with the reason, even if MongoDB fails before Redis has responded", async () => {
    const mongo = mongoose.createConnection();
    const unhandled: unknown[] = [];
    const record = (reason: unknown) => unhandled.push(reason);
    // An unhandled rejection would end the process.
    process.on("unhandledRejection", record);
    try {
      expect((await readiness({ ...platform, mongo })).missing).to.deep.equal({ mongodb: "not connected" });
    } finally {
      process.off("unhandledRejection", record);
    }
    expect(unhandled).to.deep.equal([]);
  });
});
