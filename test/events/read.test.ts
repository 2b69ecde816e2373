import { expect } from "chai";
import { emit } from "../../src/events/emit.ts";
import { eventOf, readSummaries } from "../../src/events/read.ts";
import { newId } from "../../src/lib/ids.ts";
import { StoredEvents } from "../../src/models/event.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("reading event summaries", () => {
  let platform: TestPlatform;
  let emitter: string;
  before(async () => {
    platform = await openTestPlatform();
  });
  beforeEach(async () => {
    emitter = (await storeSource(platform))._id;
  });
  after(() => platform.destroy());

  const emitAll = async (events: unknown[], name = "") => {
    for (const event of events)
      await emit(platform, { emitter_id: emitter, emit_id: newId("emit"), event, name });
  };
  const read = (page: { limit?: number; after?: string; before?: string; expand?: boolean } = {}) =>
    readSummaries(platform, emitter, "emits", { limit: 100, expand: false, ...page });
  const rawOf = (page: Awaited<ReturnType<typeof read>>) => page.rows.map(row => eventOf(row).value);

  it("returns an empty page with null cursors if there are no events", async () => {
    expect(await read()).to.deep.equal({ rows: [], totalCount: 0, startCursor: null, endCursor: null });
    expect(await read({ after: "1-0" })).to.include({ startCursor: null });
  });

  it("pages from the newest to the oldest and back, each event once", async () => {
    await emitAll([1, 2, 3, 4, 5, 6, 7]);
    const first = await read({ limit: 3 });
    expect([rawOf(first), first.totalCount]).to.deep.equal([[7, 6, 5], 7]);
    const second = await read({ limit: 3, after: first.endCursor as string });
    const third = await read({ limit: 3, after: second.endCursor as string });
    expect([rawOf(second), rawOf(third)]).to.deep.equal([[4, 3, 2], [1]]);
    expect(rawOf(await read({ limit: 3, after: third.endCursor as string }))).to.deep.equal([]);
    expect(rawOf(await read({ limit: 2, before: third.startCursor as string }))).to.deep.equal([3, 2]);
    expect(rawOf(await read({ limit: 3, before: first.startCursor as string }))).to.deep.equal([]);
  });

  it("truncates large events, and returns them whole with expand, in the same order", async () => {
    const large = { list: Array.from({ length: 500 }, (_, i) => i), deep: { text: "x".repeat(3000) } };
    await emitAll(["small", large, "last"]);
    const [cut, whole] = [await read(), await read({ expand: true })];
    expect(cut.rows.map(({ metadata }) => metadata.truncated)).to.deep.equal([undefined, true, undefined]);
    expect(Buffer.byteLength(JSON.stringify(cut.rows[1]?.event))).to.be.at.most(1024);
    expect(rawOf(whole)).to.deep.equal(["last", large, "small"]);
    expect(whole.rows.map(({ metadata }) => metadata.truncated)).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
    expect(whole.rows.map(({ id }) => id)).to.deep.equal(cut.rows.map(({ id }) => id));
  });

  it("returns an event whole if its payload is stored during the read", async () => {
    const large = { text: "x".repeat(3000) };
    await emitAll([large]);
    const [stored] = await StoredEvents(platform.mongo).find({ emitter_id: emitter }).lean();
    await StoredEvents(platform.mongo).deleteOne({ _id: stored?._id });
    const reading = read({ expand: true });
    await new Promise(resolve => setImmediate(resolve));
    await StoredEvents(platform.mongo).insertMany([stored]);
    expect(rawOf(await reading)).to.deep.equal([large]);
  });

  it("returns the summary, marked as truncated, if the payload is gone", async () => {
    await emitAll([{ text: "x".repeat(3000) }]);
    await StoredEvents(platform.mongo).deleteMany({ emitter_id: emitter });
    const [row] = (await read({ expand: true })).rows;
    expect(row?.metadata.truncated).to.equal(true);
    expect(row?.event.value).to.have.nested.property("raw_event.text").that.matches(/^x+…$/);
  });
});
