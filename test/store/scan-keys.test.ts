import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { WHOLE } from "../../src/lib/part.ts";
import { Workflows } from "../../src/models/workflow.ts";
import { beginSilentEmitterSweep } from "../../src/reconcile/silent-emitters.ts";
import { EventArchives } from "../../src/store/events/event-archive.ts";
import { scanKeys } from "../../src/store/scan-keys.ts";
import { append } from "../support/event-log.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { openRedisCluster, type RedisCluster } from "../support/redis-cluster.ts";

describe("a scan of the keys of a Redis Cluster", () => {
  let servers: RedisCluster;
  let platform: TestPlatform;
  before(async () => {
    servers = await openRedisCluster({ replicas: 0 });
    platform = await openTestPlatform({ REDIS_URL: servers.url });
  });
  after(async () => {
    await platform.destroy();
    await servers.close();
  });

  it("goes through every master, page by page, and ends", async () => {
    const names = Array.from({ length: 300 }, (_, n) => `scanned:{${n}}:x`);
    await Promise.all(names.map(name => platform.redis.set(name, "1")));
    const seen = new Set<string>();
    let pages = 0;
    let cursor: string | null = null;
    do {
      const { found, next } = await scanKeys(platform.redis, cursor, "scanned:*", 20);
      for (const key of found) seen.add(key);
      pages += 1;
      cursor = next;
    } while (cursor !== null);
    expect([...seen].sort()).to.deep.equal([...names].sort());
    expect(pages).to.be.above(10);
  });

  it("is divided by master, so that each of its parts finds keys of its own", async () => {
    const seen: string[] = [];
    for (const index of [0, 1, 2]) {
      const before = seen.length;
      let cursor: string | null = null;
      do {
        const page = await scanKeys(platform.redis, cursor, "scanned:*", 1000, { index, of: 3 });
        seen.push(...page.found);
        cursor = page.next;
      } while (cursor !== null);
      expect(seen.length, "of each master").to.be.above(before);
    }
    expect(seen.length).to.equal(new Set(seen).size);
    expect(seen).to.have.length(300);
  });

  it("goes on with the next master if the one of its cursor is gone", async () => {
    const { next } = await scanKeys(platform.redis, "0.0.0.0:1 77", "scanned:*", 10_000);
    expect(next).to.match(/^\S+:\d+ 0$/);
    expect(await scanKeys(platform.redis, "~:1 77", "scanned:*", 10)).to.deep.equal({
      found: [],
      next: null,
    });
  });

  it("finds the emitters that fell silent, on every master, and their events are read and go on as before", async () => {
    const ids = Array.from({ length: 30 }, () => newId("p"));
    const emit = (emitterId: string, emitId: string) =>
      append(platform.eventLog, emitterId, "emits", {
        event: { raw_event: 1 },
        metadata: { emit_id: emitId, name: "", emitter_id: emitterId },
      });
    for (const _id of ids) {
      await Workflows(platform.mongo).insertOne({ _id, owner_id: "u_1", name: "w", created_at: 0 });
      await emit(_id, "a");
    }
    const sweep = beginSilentEmitterSweep(platform, WHOLE, 0);
    let cursor: string | null = null;
    do cursor = (await sweep(cursor)).next;
    while (cursor !== null);
    expect(await EventArchives(platform.mongo).countDocuments()).to.equal(30);
    for (const id of ids) {
      await emit(id, "b");
      const { rows } = await platform.eventLog.page(id, "emits", { limit: 10 });
      expect(rows.map(({ metadata }) => metadata.emit_id)).to.deep.equal(["b", "a"]);
    }
  });
});
