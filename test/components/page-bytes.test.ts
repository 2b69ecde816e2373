import { expect } from "chai";
import { listComponents } from "../../src/components/components.ts";
import { loadCode } from "../../src/components/stored-bundle.ts";
import { emit } from "../../src/events/emit.ts";
import { eventOf, readSummaries } from "../../src/events/read.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { type Component, Components } from "../../src/models/component.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const MB = 1024 * 1024;
const COUNT = 24;

interface AnyPage {
  rows: unknown[];
  startCursor: string | null;
  endCursor: string | null;
}

/** Returns the pages from the newest row to the oldest. */
async function pagesOf<P extends AnyPage>(read: (after?: string) => Promise<P>): Promise<P[]> {
  const pages = [await read()];
  for (let last = pages[0]; last?.endCursor; last = pages.at(-1)) pages.push(await read(last.endCursor));
  return pages.slice(0, -1);
}

describe("a page of large rows", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const component = (owner: string, number: number, codeBytes: number): Component => ({
    _id: newId("sc", Date.now() + number * 1000),
    owner_id: owner,
    user_id: owner,
    code: "x".repeat(codeBytes),
    component_url: null,
    code_hash: `${owner}-${number}`,
    bundle_hash: `${owner}-bundle`,
    key: null,
    name: `Number ${number}`,
    version: "1",
    description: { name: "", version: "", props: [] } as unknown as Component["description"],
    packages: {},
    uses_respond: false,
    published: false,
    used_at_ms: null,
    created_at: 0,
    updated_at: 0,
  });

  it("ends early, and its cursors lead through every row, forwards and backwards", async () => {
    const owner = newId("u");
    const made = Array.from({ length: COUNT }, (_, n) => component(owner, n, MB));
    for (const one of made) await Components(platform.mongo).insertOne(one);
    const names = made.map(({ name }) => name).reverse();
    const forwards = await pagesOf(after => listComponents(platform, owner, {}, { limit: 100, after }));
    for (const { rows } of forwards) {
      expect(JSON.stringify(rows).length).to.be.below(LIMITS.pageBytes.value + 1.1 * MB);
    }
    expect(forwards.flatMap(({ rows }) => rows.map(({ name }) => name))).to.deep.equal(names);
    expect(forwards[0]?.totalCount).to.equal(COUNT);
    const oldest = made[0]?._id ?? "";
    const before = await listComponents(platform, owner, {}, { limit: 100, before: oldest });
    expect(before.rows.at(-1)?.name).to.equal("Number 1");
    expect(before.rows.length).to.equal(forwards[0]?.rows.length);
    const previous = await listComponents(
      platform,
      owner,
      {},
      { limit: 100, before: before.startCursor ?? "" },
    );
    expect(previous.rows.at(-1)?.name).to.equal(`Number ${before.rows.length + 1}`);
  });

  it("ends early when events are expanded, forwards and backwards", async () => {
    const emitter = (await storeSource(platform))._id;
    const text = "x".repeat(450 * 1024);
    for (let n = 0; n < COUNT; n += 1) {
      await emit(platform, { emitter_id: emitter, emit_id: newId("emit"), event: { n, text }, name: "" });
    }
    const read = (page: { after?: string | undefined; before?: string }) =>
      readSummaries(platform, emitter, "emits", { limit: 100, expand: true, ...page });
    const numbers = (page: Awaited<ReturnType<typeof read>>) =>
      page.rows.map(row => (eventOf(row).value as { n: number }).n);
    const pages = await pagesOf(after => read({ after }));
    for (const { rows } of pages) {
      expect(JSON.stringify(rows).length).to.be.below(LIMITS.pageEventBytes.value + MB);
    }
    expect(pages.flatMap(numbers)).to.deep.equal(Array.from({ length: COUNT }, (_, n) => COUNT - 1 - n));
    const last = await read({ before: pages.at(-1)?.endCursor ?? "" });
    expect(numbers(last).at(-1)).to.equal(1);
    expect(last.rows.length).to.equal(pages[0]?.rows.length);
  });

  it("does not make a run's cache larger: it holds no code as it was given", async () => {
    const owner = newId("u");
    const one = component(owner, 0, MB);
    await Components(platform.mongo).insertOne(one);
    for (const _ of [1, 2]) {
      const { component: cached, bundle } = await loadCode(platform, one._id);
      expect(JSON.stringify(cached).length).to.be.below(1000);
      expect(bundle).not.to.have.property("code");
    }
  });
});
