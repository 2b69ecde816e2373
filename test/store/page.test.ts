import { expect } from "chai";
import fc from "fast-check";
import { newId } from "../../src/lib/ids.ts";
import { AutoSubscriptions } from "../../src/models/subscription.ts";
import { EXACT_COUNT, type PageRequest, pageOf } from "../../src/store/page.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const rowOf = (owner: string, index: number) => ({
  _id: newId("asub", 1_700_000_000_000 + index),
  owner_id: owner,
  user_id: "u_1",
  listener_id: `wh_${index}`,
  event_name: "$errors",
  created_at: 0,
});

describe("pages of a collection", () => {
  let platform: TestPlatform;
  let newestFirst: string[];
  const model = () => AutoSubscriptions(platform.mongo);
  const page = (request: PageRequest, owner = "u_1") => pageOf(model(), { owner_id: owner }, request);
  const idsOf = async (request: PageRequest) => (await page(request)).rows.map(({ _id }) => _id);

  before(async () => {
    platform = await openTestPlatform();
    const rows = Array.from({ length: 25 }, (_, index) => rowOf("u_1", index));
    await model().insertMany([...rows, rowOf("u_2", 99)]);
    newestFirst = rows.map(({ _id }) => _id).reverse();
  });
  after(() => platform.destroy());

  it("are newest first, with the ids of both ends as cursors and the count of the whole list", async () => {
    const first = await page({ limit: 10 });
    expect(first.rows.map(({ _id }) => _id)).to.deep.equal(newestFirst.slice(0, 10));
    expect(first).to.include({ totalCount: 25, startCursor: newestFirst[0], endCursor: newestFirst[9] });
  });

  it("have null cursors when empty", async () => {
    expect(await page({ limit: 10 }, "u_none")).to.deep.equal({
      rows: [],
      totalCount: 0,
      startCursor: null,
      endCursor: null,
    });
    expect(await page({ limit: 10, after: newestFirst.at(-1) })).to.include({
      totalCount: 25,
      endCursor: null,
    });
  });

  it("give every row exactly once to who pages on, whatever the size", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 30 }), async limit => {
        const seen: string[] = [];
        for (let after: string | null | undefined; after !== null; ) {
          const next = await page({ limit, ...(after && { after }) });
          seen.push(...next.rows.map(({ _id }) => _id));
          after = next.endCursor;
        }
        expect(seen).to.deep.equal(newestFirst);
      }),
      { numRuns: 10 },
    );
  });

  it("give with `before` the page just before the cursor, newest first", async () => {
    expect(await idsOf({ limit: 10, before: newestFirst[15] ?? "" })).to.deep.equal(newestFirst.slice(5, 15));
    expect(await idsOf({ limit: 10, before: newestFirst[3] ?? "" })).to.deep.equal(newestFirst.slice(0, 3));
    expect(await idsOf({ limit: 10, before: newestFirst[0] ?? "" })).to.deep.equal([]);
  });

  it("go on from a cursor whose row was deleted", async () => {
    const gone = newestFirst[9] ?? "";
    const row = await model().findOneAndDelete({ _id: gone }).lean();
    expect(await idsOf({ limit: 3, after: gone })).to.deep.equal(newestFirst.slice(10, 13));
    if (row) await model().insertOne(row);
  });

  it("respect a filter's own bounds on the id", async () => {
    const found = await pageOf(
      model(),
      { owner_id: "u_1", _id: { $lt: newestFirst[4] ?? "" } },
      { limit: 100, before: newestFirst[8] ?? "" },
    );
    expect(found.rows.map(({ _id }) => _id)).to.deep.equal(newestFirst.slice(5, 8));
    expect(found.totalCount).to.equal(20);
  });

  it("count exactly up to a bound, and above it at most once a minute", async () => {
    const many = Array.from({ length: EXACT_COUNT + 5 }, (_, index) => rowOf("u_many", index));
    await model().insertMany(many, { lean: true });
    const countCache = { redis: platform.redis, key: `${platform.keys.writeProbe()}-test` };
    const count = async () =>
      (await pageOf(model(), { owner_id: "u_many" }, { limit: 1 }, { countCache })).totalCount;
    expect(await count()).to.equal(EXACT_COUNT + 5);
    await model().deleteOne({ owner_id: "u_many" });
    expect(await count()).to.equal(EXACT_COUNT + 5);
    expect(await platform.redis.ttl(countCache.key)).to.be.within(1, 60);
    await model().deleteMany({ owner_id: "u_many", _id: { $in: many.slice(0, 10).map(({ _id }) => _id) } });
    expect(await count()).to.be.at.most(EXACT_COUNT);
  });
});
