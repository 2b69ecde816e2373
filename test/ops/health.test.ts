import { expect } from "chai";
import mongoose from "mongoose";
import { unready } from "../../src/ops/health.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { startWeb, type WebServer } from "../../src/server.ts";
import { type OwnStores, openOwnStores } from "../support/own-stores.ts";
import { openTestPlatform, type TestPlatform, testConfig } from "../support/platform.ts";
import { until } from "../support/until.ts";

/** What a router in front waits for an answer about health. */
const PATIENCE_MS = 5000;

describe("health of the web process", function () {
  this.timeout(60_000);
  let stores: OwnStores;
  let web: Platform;
  let server: WebServer;
  before(async () => {
    stores = await openOwnStores();
    const mongodb = new URL(stores.mongo.url);
    mongodb.pathname = "/health";
    web = await openPlatform(testConfig({ MONGODB_URL: mongodb.href, REDIS_URL: stores.redis.url }), "web");
    server = await startWeb(web);
  });
  after(async () => {
    await server?.close();
    await web?.close();
    await stores?.close();
  });

  async function ask(path: string) {
    const url = `http://127.0.0.1:${server.port}${path}`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }
  const becomesReady = () =>
    until(async () => (await ask("/readyz")).status === 200, { timeoutMs: 20_000, what: "ready again" });

  it("is alive and ready while both stores take writes", async () => {
    expect(await ask("/healthz")).to.deep.equal({ status: 200, body: { status: "ok" } });
    expect(await ask("/readyz")).to.deep.equal({ status: 200, body: { status: "ready" } });
  });

  for (const name of ["redis", "mongo"] as const) {
    const shown = name === "mongo" ? "mongodb" : "redis";

    it(`stays alive, and says in time that it is not ready, while ${shown} hangs`, async () => {
      stores[name].freeze();
      try {
        expect(await ask("/readyz")).to.deep.equal({
          status: 503,
          body: { status: "unready", missing: [shown] },
        });
        expect((await ask("/healthz")).status).to.equal(200);
      } finally {
        stores[name].thaw();
      }
      await becomesReady();
    });

    it(`is ready again after ${shown} was gone`, async () => {
      await stores[name].kill();
      try {
        const { status, body } = await ask("/readyz");
        expect(status).to.equal(503);
        expect(body.missing).to.deep.equal([shown]);
      } finally {
        await stores[name].start();
      }
      await becomesReady();
    });
  }

  it("is not ready while Redis may evict keys", async () => {
    await web.redis.call("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    try {
      expect((await ask("/readyz")).body.missing).to.deep.equal(["redis"]);
    } finally {
      await web.redis.call("CONFIG", "SET", "maxmemory-policy", "noeviction");
    }
    await becomesReady();
  });
});

describe("what is not ready", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  it("is named with its reason, also when MongoDB fails before Redis has answered", async () => {
    const mongo = mongoose.createConnection();
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    // Such a rejection ends a process that nobody watches.
    process.on("unhandledRejection", note);
    try {
      expect(await unready({ ...platform, mongo })).to.deep.equal({ mongodb: "not connected" });
    } finally {
      process.off("unhandledRejection", note);
    }
    expect(unhandled).to.deep.equal([]);
  });
});
