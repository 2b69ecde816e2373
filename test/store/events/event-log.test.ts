import { expect } from "chai";
import fc from "fast-check";
import { eventIdOf, eventMs, eventScore, newId, SLOTS_PER_MS } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import type { StoredSummary } from "../../../src/store/events/event-summary.ts";
import { append } from "../../support/event-log.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";

const summary = (emitId: string, value: unknown = emitId): StoredSummary => ({
  event: { raw_event: value },
  metadata: { emit_id: emitId, name: "", emitter_id: "dc" },
});

describe("event log", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  it("assigns strictly increasing ids to concurrent writers of all streams", async () => {
    const emitter = newId("dc");
    const streams = ["emits", "errors", "logs"] as const;
    const appended = await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        append(platform.eventLog, emitter, streams[i % 3] ?? "emits", summary(`e${i}`)),
      ),
    );
    const scores = appended.map(({ eventId }) => eventScore(eventId) ?? 0);
    expect(new Set(scores).size).to.equal(300);
    expect(scores).to.deep.equal([...scores].sort((a, b) => a - b));
  });

  it("stays above the last id if the clock was ahead before", async () => {
    const emitter = newId("dc");
    const ahead = (Date.now() + 3_600_000) * 1024 + 5;
    await platform.redis.set(platform.keys.lastEventScore(emitter), String(ahead));
    const { eventId } = await append(platform.eventLog, emitter, "emits", summary("a"));
    expect(eventScore(eventId)).to.equal(ahead + 1);
  });

  it("returns the same event id for a repeated emit id, and stores nothing twice", async () => {
    const emitter = newId("dc");
    const first = await append(platform.eventLog, emitter, "emits", summary("same"));
    const repeated = await append(platform.eventLog, emitter, "emits", summary("same", "other"));
    expect(repeated).to.deep.equal({ eventId: first.eventId, isNew: false, trimmed: [] });
    const { rows, total } = await platform.eventLog.page(emitter, "emits", { limit: 10 });
    expect(total).to.equal(1);
    expect(rows[0]?.event.value).to.deep.equal({ raw_event: "same" });
  });

  it("gives an emission the id that was reserved for it, even if a failover has lost the reservation", async () => {
    const { eventLog, redis, keys } = platform;
    const emitter = newId("dc");
    const reserved = await eventLog.reserve(emitter, 1);
    await redis.del(keys.lastEventScore(emitter));
    const [stored] = (await eventLog.append(emitter, "emits", [{ summary: summary("again"), reserved }]))
      .events;
    expect(eventScore(stored?.eventId ?? "")).to.equal(reserved);
    const [next] = (await eventLog.append(emitter, "emits", [{ summary: summary("next") }])).events;
    expect(eventScore(next?.eventId ?? "")).to.be.above(reserved);
  });

  it("gives no emission an id in the future, whoever says that it was reserved", async () => {
    const { eventLog } = platform;
    const emitter = newId("dc");
    const future = (Date.now() + 60_000) * SLOTS_PER_MS;
    const [stored] = (
      await eventLog.append(emitter, "emits", [{ summary: summary("early"), reserved: future }])
    ).events;
    expect(eventScore(stored?.eventId ?? "")).to.be.below(future);
  });

  it("finds what was stored after a later event, for a reader that resumes after that one", async () => {
    const { eventLog } = platform;
    const emitter = newId("dc");
    const first = await eventLog.reserve(emitter, 3);
    const store = async (emitId: string, reserved: number) =>
      (await eventLog.append(emitter, "emits", [{ summary: summary(emitId), reserved }])).events[0]
        ?.eventId ?? "";
    const early = await store("early", first);
    const later = await store("later", first + 2);
    const late = await store("late", first + 1);
    const idsSince = async (id: string) => (await eventLog.since(emitter, "emits", id)).map(one => one.id);
    expect(await idsSince(later)).to.deep.equal([late]);
    expect(await idsSince(early)).to.deep.equal([late, later]);
    expect(await eventLog.since(emitter, "logs", early)).to.deep.equal([]);
    await eventLog.delete(emitter);
    expect(await platform.redis.keys(`*${emitter}*`)).to.deep.equal([]);
  });

  it("remembers every emit id for some minutes, and the last 1,000 however old they are", async () => {
    const emitter = newId("dc");
    const entries = Array.from({ length: 1500 }, (_, n) => ({ summary: summary(`e${n}`) }));
    const { events } = await platform.eventLog.append(emitter, "emits", entries);
    const [repeated] = (await platform.eventLog.append(emitter, "emits", entries.slice(0, 1))).events;
    expect(repeated).to.deep.equal({ eventId: events[0]?.eventId, isNew: false });
    const seen = platform.keys.seenEmits(emitter);
    const anHourAgo = (Date.now() - 3_600_000) * SLOTS_PER_MS;
    await platform.redis.zadd(seen, ...entries.flatMap((_, n) => [anHourAgo + n, `e${n}`]));
    await platform.eventLog.append(emitter, "emits", [{ summary: summary("next") }]);
    expect(await platform.redis.zcard(seen)).to.equal(1000);
    expect(await platform.redis.zscore(seen, "e501")).to.equal(String(anHourAgo + 501));
  });

  it("forgets the emit ids of a burst after minutes and the last ones after a day, also if no event follows", async () => {
    const emitter = newId("dc");
    const entries = Array.from({ length: 3000 }, (_, n) => ({ summary: summary(`e${n}`) }));
    await platform.eventLog.append(emitter, "emits", entries);
    const { redis, keys } = platform;
    expect(await redis.zcard(keys.seenEmits(emitter))).to.equal(1000);
    expect(await redis.pttl(keys.seenEmits(emitter))).to.be.within(1, 86_400_000);
    expect(await redis.zcard(keys.recentEmits(emitter))).to.equal(2000);
    expect(await redis.pttl(keys.recentEmits(emitter))).to.be.within(1, 120_000);
    expect(await platform.eventLog.eventIdOf(emitter, "e0"), "of the burst").not.to.equal(null);
  });

  it("assigns ids to emissions stored together in order, and returns the old id of a repeated one", async () => {
    const emitter = newId("dc");
    const { eventId } = await append(platform.eventLog, emitter, "emits", summary("b"));
    const { events } = await platform.eventLog.append(
      emitter,
      "emits",
      ["a", "b", "c", "a"].map(id => ({ summary: summary(id) })),
    );
    const [a, b, c, repeated] = events;
    expect(b).to.deep.equal({ eventId, isNew: false });
    expect(repeated).to.deep.equal({ eventId: a?.eventId, isNew: false });
    const order = [eventId, a?.eventId, c?.eventId].map(id => eventScore(id ?? "") ?? 0);
    expect(order).to.deep.equal([...order].sort((x, y) => x - y));
    expect(new Set(order).size).to.equal(3);
    const { rows } = await platform.eventLog.page(emitter, "emits", { limit: 10 });
    expect(rows.map(row => row.metadata.emit_id)).to.deep.equal(["c", "a", "b"]);
  });

  it("keeps the last 100 of a stream, however many are appended at once", async () => {
    const emitter = newId("dc");
    const entries = Array.from({ length: LIMITS.eventsKept.value + 50 }, (_, i) => ({
      summary: summary(`e${i}`),
    }));
    await platform.eventLog.append(emitter, "emits", entries);
    const { rows, total } = await platform.eventLog.page(emitter, "emits", { limit: 100 });
    expect(total).to.equal(LIMITS.eventsKept.value);
    expect([rows[0], rows.at(-1)].map(row => row?.metadata.emit_id)).to.deep.equal(["e149", "e50"]);
    expect(await platform.redis.hlen(platform.keys.eventSummaries(emitter, "emits"))).to.equal(
      LIMITS.eventsKept.value,
    );
  });

  it("keeps the last 100 of each stream, and returns trimmed events whose payload is stored elsewhere", async () => {
    const emitter = newId("dc");
    const ids: string[] = [];
    let trimmed: string[] = [];
    for (let i = 0; i < LIMITS.eventsKept.value + 3; i++) {
      const entry = summary(`e${i}`);
      if (i !== 1) entry.metadata.truncated = true;
      const appended = await append(platform.eventLog, emitter, "emits", entry);
      ids.push(appended.eventId);
      trimmed = [...trimmed, ...appended.trimmed];
    }
    await append(platform.eventLog, emitter, "errors", summary("error"));
    expect(trimmed).to.deep.equal([ids[0], ids[2]]);
    const { rows, total } = await platform.eventLog.page(emitter, "emits", { limit: 100 });
    expect(total).to.equal(LIMITS.eventsKept.value);
    expect(rows.map(row => row.id)).to.deep.equal(ids.slice(3).reverse());
    expect(await platform.redis.hlen(platform.keys.eventSummaries(emitter, "emits"))).to.equal(
      LIMITS.eventsKept.value,
    );
  });

  it("pages both ways without a lost or repeated row, also from a deleted cursor", async () => {
    const emitter = newId("dc");
    const ids: string[] = [];
    for (let i = 0; i < 25; i++)
      ids.push((await append(platform.eventLog, emitter, "emits", summary(`e${i}`))).eventId);
    const newest = [...ids].reverse();
    const read = async (page: { limit: number; after?: string; before?: string }) =>
      (await platform.eventLog.page(emitter, "emits", page)).rows.map(row => row.id);

    expect(await read({ limit: 10 })).to.deep.equal(newest.slice(0, 10));
    await platform.eventLog.deleteRange(emitter, "emits", { startId: newest[9], endId: newest[9] });
    expect(await read({ limit: 10, after: newest[9] as string })).to.deep.equal(newest.slice(10, 20));
    expect(await read({ limit: 100, after: newest[19] as string })).to.deep.equal(newest.slice(20));
    expect(await read({ limit: 5, before: newest[8] as string })).to.deep.equal(newest.slice(3, 8));
    expect(await read({ limit: 5, before: newest[0] as string })).to.deep.equal([]);
  });

  it("deletes exactly the range that a model deletes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 12 }),
        fc.option(fc.integer({ min: 0, max: 11 }), { nil: undefined }),
        fc.option(fc.integer({ min: 0, max: 11 }), { nil: undefined }),
        async (count, start, end) => {
          const emitter = newId("dc");
          const ids: string[] = [];
          for (let i = 0; i < count; i++) {
            ids.push((await append(platform.eventLog, emitter, "emits", summary(`e${i}`))).eventId);
          }
          const at = (index: number | undefined) =>
            index === undefined ? undefined : (ids[index] ?? eventIdOf(9_000_000_000_000 * 1024));
          const startId = at(start);
          const endId = at(end);
          const inRange = (id: string) =>
            (startId === undefined || (eventScore(id) ?? 0) >= (eventScore(startId) ?? 0)) &&
            (endId === undefined || (eventScore(id) ?? 0) <= (eventScore(endId) ?? 0));
          const removed = await platform.eventLog.deleteRange(emitter, "emits", { startId, endId });
          const { rows } = await platform.eventLog.page(emitter, "emits", { limit: 100 });
          expect(removed).to.equal(ids.filter(inRange).length);
          expect(rows.map(row => row.id)).to.deep.equal(ids.filter(id => !inRange(id)).reverse());
          await platform.eventLog.delete(emitter);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("event ids", () => {
  it("convert to scores and back, and sort in the same order", () => {
    const score = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(score, score, (a, b) => {
        expect(eventScore(eventIdOf(a))).to.equal(a);
        expect(Math.sign((eventScore(eventIdOf(a)) ?? 0) - (eventScore(eventIdOf(b)) ?? 0))).to.equal(
          Math.sign(a - b),
        );
      }),
    );
    expect(eventMs("1598497183000-0")).to.equal(1598497183000);
  });

  it("have no score if they are malformed", () => {
    for (const text of ["", "1", "1-", "-1", "a-b", "1-1-1", "1 -1", "99999999999999-0"]) {
      expect(eventScore(text), text).to.equal(null);
    }
  });
});
