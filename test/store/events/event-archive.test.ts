import { expect } from "chai";
import { eventScore, newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { countDrop, readDrops } from "../../../src/store/events/drops.ts";
import { archiveEvents, EventArchives, isHere } from "../../../src/store/events/event-archive.ts";
import { STREAMS, type StoredSummary } from "../../../src/store/events/event-summary.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";

const summary = (emitId: string): StoredSummary => ({
  event: { raw_event: emitId },
  metadata: { emit_id: emitId, name: "", emitter_id: "dc" },
});
const KEPT = LIMITS.eventsKept.value;

describe("the archive of an emitter that fell silent", () => {
  let platform: TestPlatform;
  let emitter: string;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());
  beforeEach(() => {
    emitter = newId("dc");
  });

  const emit = async (...emitIds: string[]) => {
    const entries = emitIds.map(id => ({ summary: summary(id) }));
    return (await platform.eventLog.append(emitter, "emits", entries)).events.map(({ eventId }) => eventId);
  };
  const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `e${from + n}`);
  const archive = () => archiveEvents(platform, [emitter], 0);
  const place = async () => (await platform.redis.get(platform.keys.eventsPlace(emitter))) ?? "";
  const rows = async (limit = KEPT) => (await platform.eventLog.page(emitter, "emits", { limit })).rows;
  const emitIds = async () => (await rows()).map(({ metadata }) => metadata.emit_id).reverse();
  /** As if Redis had lost everything. */
  const loseKeys = async () => {
    const { redis } = platform;
    const all = "keys" in redis ? await redis.keys(`*${emitter}*`) : [];
    if (all.length > 0) await redis.del(...all);
  };

  it("is read as Redis was: pages, single events, those since one, the newest id and the drop counts", async () => {
    const { eventLog } = platform;
    const ids = await emit(...numbered(KEPT + 30));
    await eventLog.append(emitter, "errors", [{ summary: summary("error") }]);
    await eventLog.append(emitter, "logs", [{ summary: summary("log") }]);
    await countDrop(platform, emitter, "filtered", 3);
    const read = async () => ({
      pages: await Promise.all(
        STREAMS.flatMap(stream =>
          [{}, { after: ids[60] }, { before: ids[60] }, { after: ids[5] }, { before: ids[5] }].map(cursor =>
            eventLog.page(emitter, stream, { limit: 20, ...cursor }),
          ),
        ),
      ),
      since: await Promise.all(STREAMS.map(stream => eventLog.since(emitter, stream, ids[90] ?? ""))),
      events: await Promise.all(ids.map(id => eventLog.find(emitter, id))),
      newest: await eventLog.newestId(emitter),
      drops: await readDrops(platform, emitter),
      repeated: await eventLog.eventIdOf(emitter, "e100"),
    });
    const before = await read();
    expect(await archive()).to.deep.equal([emitter]);
    expect(await read()).to.deep.equal(before);
  });

  it("leaves no key of the emitter in Redis that does not expire", async () => {
    await emit(...numbered(KEPT));
    await countDrop(platform, emitter, "filtered");
    await archive();
    const { redis } = platform;
    for (const key of "keys" in redis ? await redis.keys(`*${emitter}*`) : []) {
      expect(await redis.ttl(key), key).to.be.above(0);
    }
  });

  it("is not made of an emitter that was not silent for so long", async () => {
    await emit("a");
    expect(await archiveEvents(platform, [emitter], 3_600_000)).to.deep.equal([]);
    expect(isHere(await place())).to.equal(true);
  });

  it("comes back to Redis with the next event, which is trimmed, counted and known by its emit id as before", async () => {
    const truncated = summary("e0");
    truncated.metadata.truncated = true;
    const first = (await platform.eventLog.append(emitter, "emits", [{ summary: truncated }])).events[0];
    const ids = await emit(...numbered(KEPT - 1, 1));
    await countDrop(platform, emitter, "filtered", 3);
    await archive();
    await countDrop(platform, emitter, "filtered", 2);
    expect(await readDrops(platform, emitter), "counted since").to.include({ filtered: 5 });
    const next = await platform.eventLog.append(emitter, "emits", [
      { summary: summary("e7") },
      { summary: summary("next") },
    ]);
    expect(next.events[0], "the same emit id").to.deep.equal({ eventId: ids[6], isNew: false });
    expect(next.trimmed).to.deep.equal([first?.eventId]);
    expect(await emitIds()).to.deep.equal([...numbered(KEPT - 1, 1), "next"]);
    expect(eventScore(next.events[1]?.eventId ?? "")).to.be.above(eventScore(ids.at(-1) ?? "") ?? 0);
    expect(await readDrops(platform, emitter)).to.include({ filtered: 5 });
    expect(await platform.redis.zcard(platform.keys.eventIds(emitter, "emits"))).to.equal(KEPT);
  });

  it("gives ids above its own to what is emitted next, also if the clock was ahead", async () => {
    const ahead = (Date.now() + 3_600_000) * 1024;
    await emit("a");
    await platform.redis.set(platform.keys.lastEventScore(emitter), String(ahead));
    expect(await archive(), "its last event is to come").to.deep.equal([]);
    await platform.redis.set(platform.keys.lastEventScore(emitter), String(Date.now() * 1024));
    await archive();
    await EventArchives(platform.mongo).updateOne({ _id: emitter }, { $set: { last_score: ahead } });
    expect(eventScore((await emit("b"))[0] ?? "")).to.equal(ahead + 1);
  });

  it("loses, doubles and reorders nothing while an emitter is archived at the moments at which it emits", async () => {
    const ids: string[] = [];
    let archived = 0;
    for (let n = 0; n < 150; n++) {
      const [appended, moved] = await Promise.all([
        emit(`e${n}`),
        archive(),
        n % 3 ? emit(`e${n}`) : undefined,
      ]);
      ids.push(...appended);
      archived += moved.length;
    }
    expect(archived).to.be.above(0);
    const scores = ids.map(id => eventScore(id) ?? 0);
    expect(new Set(ids).size).to.equal(150);
    expect(scores).to.deep.equal([...scores].sort((a, b) => a - b));
    expect((await rows()).map(({ id }) => id)).to.deep.equal(ids.slice(-KEPT).reverse());
    expect(await emitIds()).to.deep.equal(numbered(KEPT, 50));
  });

  it("is of no account while the emitter's events are in Redis", async () => {
    const [first] = await emit("a", "b");
    await archive();
    await emit("c");
    await platform.eventLog.deleteRange(emitter, "emits", { endId: first });
    expect(await EventArchives(platform.mongo).countDocuments({ _id: emitter })).to.equal(1);
    expect(await emitIds()).to.deep.equal(["b", "c"]);
    await archive();
    expect(await emitIds()).to.deep.equal(["b", "c"]);
  });

  it("loses a range that is deleted, and nothing of it comes back, whatever happens to Redis", async () => {
    const ids = await emit(...numbered(10));
    await archive();
    const range = { startId: ids[2], endId: ids[6] };
    expect(await platform.eventLog.deleteRange(emitter, "emits", range)).to.equal(5);
    const left = ["e0", "e1", "e7", "e8", "e9"];
    expect(await emitIds()).to.deep.equal(left);
    await archive();
    expect(await emitIds(), "archived again").to.deep.equal(left);
    await emit("next");
    expect(await emitIds(), "with another event").to.deep.equal([...left, "next"]);
    const { deleteRange } = platform.eventLog;
    expect(await deleteRange(emitter, "emits", { startId: ids[7] })).to.equal(4);
    await loseKeys();
    expect(await emitIds(), "without Redis").to.deep.equal(["e0", "e1"]);
  });

  it("is what is left when Redis loses its data", async () => {
    await emit("a", "b");
    await countDrop(platform, emitter, "filtered");
    await archive();
    await loseKeys();
    expect(await emitIds()).to.deep.equal(["a", "b"]);
    expect(await readDrops(platform, emitter)).to.deep.equal({ filtered: 1 });
    await emit("c");
    expect(await emitIds()).to.deep.equal(["a", "b", "c"]);
  });

  it("is not believed if it is not the one to which the events went: a read after a failover may lag behind", async () => {
    await emit("a");
    await archive();
    const archives = EventArchives(platform.mongo);
    const [current] = await archives.find({ _id: emitter }).lean();
    await archives.updateOne({ _id: emitter }, { $set: { version: "an older one" } });
    const failure = await emit("b").catch((error: unknown) => error);
    expect(failure).to.have.property("code", "unavailable");
    await archives.updateOne({ _id: emitter }, { $set: { version: current?.version } });
    await emit("b");
    expect(await emitIds()).to.deep.equal(["a", "b"]);
  });

  it("goes with its emitter", async () => {
    await emit("a");
    await archive();
    await platform.eventLog.delete(emitter);
    expect(await EventArchives(platform.mongo).countDocuments({ _id: emitter })).to.equal(0);
    expect(await emitIds()).to.deep.equal([]);
  });

  it("takes over what an older version left in Redis without a place", async () => {
    const ids = await emit(...numbered(5));
    await countDrop(platform, emitter, "filtered");
    await platform.redis.del(platform.keys.eventsPlace(emitter));
    expect(await emitIds()).to.deep.equal(numbered(5));
    expect(await platform.eventLog.find(emitter, ids[2] ?? "")).to.have.property("id", ids[2]);
    await emit("next");
    expect(await emitIds()).to.deep.equal([...numbered(5), "next"]);
    expect(await readDrops(platform, emitter)).to.deep.equal({ filtered: 1 });
  });
});
