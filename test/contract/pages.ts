import { expect } from "chai";
import { DEFAULT_LIMIT, isPaged, rowIdCursor } from "../../src/http/common-parameters.ts";
import type { AnyRoute, PageOptions } from "../../src/http/route.ts";
import { eventScore } from "../../src/lib/ids.ts";
import type { Page, Problem } from "../support/api.ts";
import { type List, openList } from "./lists.ts";
import type { Owner, World } from "./things.ts";

const ROWS = 12;

/** Lists whose last page has no `end_cursor`, because existing clients follow every cursor that they find. */
const ENDS_WITH_NULL = new Set(["listSourceEventRows"]);

/** Compares two ids: event ids by their numbers, all other ids as strings. */
function compareIds(a: string, b: string): number {
  const [x, y] = [eventScore(a), eventScore(b)];
  return x !== null && y !== null ? x - y : a < b ? -1 : 1;
}

/** Tests the rules for paginated lists (docs/rest-api.md#pagination, docs/design.md#lists) with those of these routes. */
export function testPages(routes: readonly AnyRoute[], opened: () => World): void {
  for (const route of routes) {
    if (!isPaged(route.response)) continue;
    const isPage = route.response.kind === "page";
    const { cursor: codec = rowIdCursor, defaultLimit = DEFAULT_LIMIT }: PageOptions = isPage
      ? (route.response as PageOptions)
      : {};

    describe(`GET ${route.path}`, () => {
      let owner: Owner;
      let list: List;
      /** Row ids, newest first. */
      let ids: string[] = [];

      const get = (query: Record<string, string | number> = {}) =>
        owner.api.request<Page<{ id: string }> & Problem>("GET", list.path, { query });
      /** Expects a page, checks its page_info, and returns its ids. */
      const page = async (query: Record<string, string | number> = {}) => {
        const { status, body, text } = await get(query);
        expect(status, text).to.equal(200);
        const { page_info, data } = body;
        const [start_cursor, end_cursor] = [data.at(0), data.at(-1)].map(row => row && codec.encode(row.id));
        const isEnd = ENDS_WITH_NULL.has(route.id) && data.at(-1)?.id === ids.at(-1);
        expect(page_info).to.deep.equal({
          total_count: page_info.total_count,
          count: data.length,
          start_cursor: start_cursor ?? null,
          end_cursor: isEnd ? null : (end_cursor ?? null),
        });
        return { total: page_info.total_count, ids: data.map(row => row.id), end: end_cursor ?? "" };
      };
      const cursor = (row: number) => codec.encode(ids[row] ?? "");
      const rejects = async (query: Record<string, string | number>, name: string) => {
        const { status, body, text } = await get(query);
        expect(status, `${JSON.stringify(query)}: ${text}`).to.equal(400);
        expect(body.errors?.map(error => `${error.in} ${error.path}`)).to.deep.equal([`query ${name}`]);
      };

      before(async () => {
        const world = opened();
        const api = await world.system.user();
        const orgId =
          route.access.kind === "member" ? await world.system.organization(api.userId) : undefined;
        owner = { api, ...(orgId && { orgId }) };
        list = await openList(route, world, owner);
        ids = list.first === undefined ? [] : [list.first];
        const end = ids.map(id => codec.encode(id)).join();
        expect(await page({ limit: 10 }), "a new list").to.deep.equal({ total: ids.length, ids, end });
        while (ids.length < ROWS) ids.push(await list.add());
        ids.sort(compareIds).reverse();
      });

      it("go forwards from the newest row to an empty page", async () => {
        const first = await page({ limit: 5 });
        expect(first).to.deep.include({ total: ROWS, ids: ids.slice(0, 5) });
        const second = await page({ limit: 5, after: first.end });
        expect(second.ids).to.deep.equal(ids.slice(5, 10));
        const last = await page({ limit: 5, after: second.end });
        expect(last.ids).to.deep.equal(ids.slice(10));
        expect(await page({ limit: 5, after: last.end })).to.deep.equal({ total: ROWS, ids: [], end: "" });
      });

      if (!isPage) {
        it("are the whole list, without page_info, unless the request asks for a page", async () => {
          const { body } = await get();
          expect(body).to.have.all.keys("data");
          expect(body.data.map(row => row.id)).to.deep.equal(ids);
        });
      }

      it("go backwards, each ending just before its cursor", async () => {
        expect((await page({ limit: 5, before: cursor(10) })).ids).to.deep.equal(ids.slice(5, 10));
        expect((await page({ limit: 5, before: cursor(3) })).ids).to.deep.equal(ids.slice(0, 3));
        expect((await page({ limit: 5, before: cursor(0) })).ids).to.deep.equal([]);
      });

      it("have 10 rows by default, or 100 of events, and from 1 to 100 with limit", async () => {
        if (isPage) expect((await page()).ids).to.have.length(Math.min(defaultLimit, ROWS));
        else expect((await page({ after: cursor(0) })).ids).to.have.length(DEFAULT_LIMIT);
        expect((await page({ limit: 1 })).ids).to.deep.equal(ids.slice(0, 1));
        expect((await page({ limit: 100 })).ids).to.deep.equal(ids);
        for (const limit of [0, 101, -1, "abc", "1.5", "", "1e1", "0x10", " 5"]) {
          await rejects({ limit }, "limit");
        }
      });

      it("reject an invalid cursor, and two cursors at once", async () => {
        for (const name of ["after", "before"]) {
          for (const invalid of ["", "!", "%", "=", "a b", "\u00e9", "x".repeat(300)]) {
            await rejects({ [name]: invalid }, name);
          }
        }
        await rejects({ after: cursor(1), before: cursor(3) }, "before");
      });

      it("have only the requested fields, and all of page_info", async () => {
        const { body } = await get({ include: "id", limit: 2 });
        expect(body.data).to.deep.equal(ids.slice(0, 2).map(id => ({ id })));
        expect(body.page_info).to.include({ total_count: ROWS, count: 2, end_cursor: cursor(1) });
        expect((await get({ exclude: "id", limit: 1 })).body.data[0]).not.to.have.property("id");
      });

      it("continue from the cursor of a deleted row", async () => {
        const cursorOfDeleted = codec.encode(ids[4] ?? "");
        await list.remove(ids[4] ?? "");
        expect((await page({ limit: 3, after: cursorOfDeleted })).ids).to.deep.equal(ids.slice(5, 8));
        const before = await page({ limit: 3, before: cursorOfDeleted });
        expect(before).to.deep.include({ total: ROWS - 1, ids: ids.slice(1, 4) });
      });
    });
  }
}
