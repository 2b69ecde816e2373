import { expect } from "chai";
import fc from "fast-check";
import type { Page } from "../support/api.ts";
import { openWorld } from "./open-world.ts";
import type { Owner } from "./things.ts";

/** What happens to a list between two of its pages: how many rows come, and which go (by place, round and round). */
interface Change {
  added: number;
  removed: number[];
}
const change: fc.Arbitrary<Change> = fc.record({
  added: fc.nat(3),
  removed: fc.array(fc.nat(40), { maxLength: 3 }),
});

interface Walk {
  rows: number;
  limit: number;
  /** One after each page, as long as there are any. */
  changes: Change[];
  direction: "after" | "before";
}
const walk: fc.Arbitrary<Walk> = fc.record({
  rows: fc.nat(18),
  limit: fc.integer({ min: 1, max: 7 }),
  changes: fc.array(change, { maxLength: 8 }),
  direction: fc.constantFrom("after", "before"),
});

/** More than any list here has; a walk that goes on further never ends. */
const MAX_PAGES = 60;

/** design.md, "Lists": a cursor stays good whatever becomes of the rows around it. Webhooks are the cheapest rows. */
describe("walking a list while rows come and go", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  const add = async ({ api }: Owner) => (await api.createWebhook(world.receiver.url)).id;
  const remove = ({ api }: Owner, id: string) => api.expect(204, "DELETE", `/webhooks/${id}`);

  /** Pages until there is no cursor; answers each page's row ids and which of the first rows are there in the end. */
  async function take(owner: Owner, { rows, limit, changes, direction }: Walk) {
    // Walking backwards begins below the oldest row, at the cursor of one that is gone.
    const bottom = await add(owner);
    const { end_cursor: start } = (await get(owner, { limit: 1 })).page_info;
    await remove(owner, bottom);
    const standing: string[] = [];
    for (let i = 0; i < rows; i++) standing.push(await add(owner));
    const first = new Set(standing);
    const pages: string[][] = [];
    let cursor = direction === "before" ? start : undefined;
    for (const changed of [...changes, ...Array<undefined>(MAX_PAGES)]) {
      const { page_info, data } = await get(owner, { limit, ...(cursor && { [direction]: cursor }) });
      pages.push(data.map(row => row.id));
      cursor = direction === "after" ? page_info.end_cursor : page_info.start_cursor;
      if (cursor === null) break;
      for (let i = 0; i < (changed?.added ?? 0); i++) standing.push(await add(owner));
      for (const place of changed?.removed ?? []) {
        const [gone] = standing.length > 0 ? standing.splice(place % standing.length, 1) : [];
        if (gone) await remove(owner, gone);
      }
    }
    return { pages, ended: cursor === null, survivors: standing.filter(id => first.has(id)) };
  }

  async function get({ api }: Owner, query: Record<string, string | number>) {
    const { status, body, text } = await api.request<Page<{ id: string }>>("GET", "/users/me/webhooks", {
      query,
    });
    expect(status, text).to.equal(200);
    return body;
  }

  it("loses no row that stays, shows none twice, and keeps to the order of age", async function () {
    this.timeout(60_000);
    const check = fc.asyncProperty(walk, async given => {
      const { pages, ended, survivors } = await take({ api: await world.system.user() }, given);
      expect(ended, "it ends").to.equal(true);
      expect(pages.every(page => page.length <= given.limit)).to.equal(true);
      const seen = (given.direction === "after" ? pages : pages.toReversed()).flat();
      expect(seen, "newest first, none twice").to.deep.equal([...new Set(seen)].sort().reverse());
      expect(seen, "none lost").to.include.members(survivors);
    });
    await fc.assert(check, { numRuns: 30, endOnFailure: true });
  });
});
