import { expect } from "chai";
import { AppError } from "../../src/lib/errors.ts";
import { newId } from "../../src/lib/ids.ts";
import { type Webhook, Webhooks } from "../../src/models/webhook.ts";
import { type Order, orderOf } from "../../src/store/order.ts";
import { type PageRequest, pageOf } from "../../src/store/page.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const START = 1_700_000_000_000;
/** The order that is asked for, of which two share a moment, and the newest and the oldest have none. */
const MOMENTS = [undefined, 30, 10, 20, 20, undefined, 40];

const rowOf = (owner_id: string, n: number, ms?: number): Webhook => ({
  ...{ _id: newId("wh", START + n), owner_id, user_id: owner_id, name: null, description: null },
  ...{ url: `https://example.com/${n}`, active: n % 2 === 0, disabled_reason: null, signing_keys: [] },
  ...{ headers: null, header_names: [], failing_since_ms: null, max_in_flight: null },
  ...{ rate_limit_per_second: null, ordered: false, created_at: 0, updated_at: 0 },
  ...(ms !== undefined && { last_error_ms: ms }),
});

describe("a list in the order of what last happened", () => {
  let platform: TestPlatform;
  const [owner, other] = [newId("u"), newId("u")];
  const order = orderOf(owner, "last_error") as Order;
  let rows: Webhook[];

  before(async () => {
    platform = await openTestPlatform();
    rows = MOMENTS.map((ms, n) => rowOf(owner, n, ms));
    await Webhooks(platform.mongo).insertMany([...rows, rowOf(other, 8, 35), rowOf(other, 9)]);
  });
  after(() => platform.destroy());

  const page = (request: PageRequest, filter: object = {}) =>
    pageOf<Webhook>(Webhooks(platform.mongo), { owner_id: owner, ...filter }, request, { order });
  /** The numbers of the rows as they were made. */
  const numbers = (found: Webhook[]) => found.map(({ _id }) => rows.findIndex(row => row._id === _id));
  const SORTED = [6, 1, 4, 3, 2, 5, 0];

  it("has the latest first, of one moment the newest, and last those without", async () => {
    const found = await page({ limit: 100 });
    expect(numbers(found.rows)).to.deep.equal(SORTED);
    expect(found.totalCount).to.equal(rows.length);
  });

  it("is walked in both directions, however long a page is", async () => {
    for (const limit of [1, 2, 3, 7]) {
      const seen: number[] = [];
      let last = await page({ limit });
      while (last.endCursor !== null) {
        seen.push(...numbers(last.rows));
        last = await page({ limit, after: last.endCursor });
      }
      expect(seen, `pages of ${limit}`).to.deep.equal(SORTED);
      const back: number[] = [];
      const end = await page({ limit: 100 });
      let before = await page({ limit, before: end.endCursor ?? "" });
      while (before.startCursor !== null) {
        back.unshift(...numbers(before.rows));
        before = await page({ limit, before: before.startCursor });
      }
      expect(back, `back in pages of ${limit}`).to.deep.equal(SORTED.slice(0, -1));
    }
  });

  it("is narrowed by filters", async () => {
    const first = await page({ limit: 2 }, { active: true });
    expect(numbers(first.rows)).to.deep.equal([6, 4]);
    const next = await page({ limit: 2, after: first.endCursor ?? "" }, { active: true });
    expect(numbers(next.rows)).to.deep.equal([2, 0]);
    expect(next.totalCount).to.equal(4);
  });

  it("goes on from a row that was deleted", async () => {
    const first = await page({ limit: 2 });
    const row = rows[1] as Webhook;
    await Webhooks(platform.mongo).deleteOne({ _id: row._id });
    const next = await page({ limit: 2, after: first.endCursor ?? "" });
    expect(numbers(next.rows)).to.deep.equal([4, 3]);
    await Webhooks(platform.mongo).insertMany([row]);
  });

  it("rejects a cursor of the order of ids", async () => {
    for (const name of ["after", "before"]) {
      const error = await page({ limit: 2, [name]: rows[1]?._id ?? "" }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(AppError).and.include({ code: "invalid" });
    }
  });
});
