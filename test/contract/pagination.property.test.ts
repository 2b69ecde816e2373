import { expect } from "chai";
import fc from "fast-check";
import type { Page } from "../support/api.ts";
import { openWorld } from "./open-world.ts";
import type { Owner } from "./things.ts";

/**
 * How a list changes between two pages: the number of added rows, and the positions (modulo length) of removed rows.
 */
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
  /** Applied one after each page; none after the last one. */
  changes: Change[];
  direction: "after" | "before";
}
const walk: fc.Arbitrary<Walk> = fc.record({
  rows: fc.nat(18),
  limit: fc.integer({ min: 1, max: 7 }),
  changes: fc.array(change, { maxLength: 8 }),
  direction: fc.constantFrom("after", "before"),
});

/** More pages than any list here has; a longer walk would never end. */
const MAX_PAGES = 60;

/** A cursor stays valid, however the rows around it change (docs/design.md#lists). Webhooks are the cheapest rows. */
describe("paging through a list while rows are added and removed", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  const add = async ({ api }: Owner) => (await api.createWebhook(world.receiver.url)).id;
  const remove = ({ api }: Owner, id: string) => api.expect(204, "DELETE", `/webhooks/${id}`);

  /**
   * Pages until there is no cursor; returns the row ids of each page, and which of the first rows are left at the end.
   */
  async function walkPages(owner: Owner, { rows, limit, changes, direction }: Walk) {
    // A walk backwards starts below the oldest row, at the cursor of a deleted row.
    const bottom = await add(owner);
    const { end_cursor: start } = (await get(owner, { limit: 1 })).page_info;
    await remove(owner, bottom);
    const present: string[] = [];
    for (let i = 0; i < rows; i++) present.push(await add(owner));
    const first = new Set(present);
    const pages: string[][] = [];
    let cursor = direction === "before" ? start : undefined;
    for (const changed of [...changes, ...Array<undefined>(MAX_PAGES)]) {
      const { page_info, data } = await get(owner, { limit, ...(cursor && { [direction]: cursor }) });
      pages.push(data.map(row => row.id));
      cursor = direction === "after" ? page_info.end_cursor : page_info.start_cursor;
      if (cursor === null) break;
      for (let i = 0; i < (changed?.added ?? 0); i++) present.push(await add(owner));
      for (const position of changed?.removed ?? []) {
        const [removed] = present.length > 0 ? present.splice(position % present.length, 1) : [];
        if (removed) await remove(owner, removed);
      }
    }
    return { pages, ended: cursor === null, survivors: present.filter(id => first.has(id)) };
  }

  async function get({ api }: Owner, query: Record<string, string | number>) {
    const { status, body, text } = await api.request<Page<{ id: string }>>("GET", "/users/me/webhooks", {
      query,
    });
    expect(status, text).to.equal(200);
    return body;
  }

  it("misses no row that stays, shows none twice, and keeps the order @long", async () => {
    const check = fc.asyncProperty(walk, async given => {
      const { pages, ended, survivors } = await walkPages({ api: await world.system.user() }, given);
      expect(ended, "it ends").to.equal(true);
      expect(pages.every(page => page.length <= given.limit)).to.equal(true);
      const ids = (given.direction === "after" ? pages : pages.toReversed()).flat();
      expect(ids, "newest first, none twice").to.deep.equal([...new Set(ids)].sort().reverse());
      expect(ids, "none missing").to.include.members(survivors);
    });
    await fc.assert(check, { numRuns: 30, endOnFailure: true });
  });
});
