import { expect } from "chai";
import { openRoutingCache } from "../../src/store/routing-cache.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const accountOf = (id: string) => id.split("-")[0] ?? "";

describe("routing cache", () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await openTestPlatform();
  });
  afterEach(() => platform.destroy());

  /** Opens the cache as one more process does, over documents that the test changes; a key's first part is its account. */
  function open(documents: Map<string, string>) {
    const cache = openRoutingCache(platform.redis, platform.keys);
    const queried: string[][] = [];
    const find = async (...ids: string[]) => {
      const found = await cache.lookUp(
        "thing",
        ids,
        async missing => {
          queried.push(missing);
          return new Map(
            missing.flatMap(id => (documents.has(id) ? [[id, documents.get(id) as string]] : [])),
          );
        },
        (_, id) => [accountOf(id)],
      );
      return Object.fromEntries(found);
    };
    return {
      refresh: (seen?: string) => cache.refresh(seen),
      invalidate: (...accounts: string[]) => cache.invalidate(accounts),
      version: () => cache.version(),
      cache,
      queried,
      find,
    };
  }

  it("looks up an existing document once, and an absent one each time", async () => {
    const { refresh, find, queried } = open(new Map([["a", "1"]]));
    await refresh();
    expect(await find("a", "b")).to.deep.equal({ a: "1" });
    expect(await find("a", "b")).to.deep.equal({ a: "1" });
    expect(queried).to.deep.equal([["a", "b"], ["b"]]);
  });

  it("returns what another process has changed from the next refresh on", async () => {
    const documents = new Map([["a", "1"]]);
    const [mine, theirs] = [open(documents), open(documents)];
    await mine.refresh();
    await mine.find("a");
    expect(await mine.refresh(), "nothing was changed").to.equal(false);
    documents.set("a", "2");
    await theirs.invalidate("a");
    expect(await mine.refresh()).to.equal(true);
    expect(await mine.find("a")).to.deep.equal({ a: "2" });
  });

  it("does not cache a lookup that was under way during a change", async () => {
    const documents = new Map([["a", "1"]]);
    const { refresh, invalidate, find, cache } = open(documents);
    await refresh();
    const find1 = async () => {
      documents.set("a", "2");
      await invalidate("a");
      await refresh();
      return new Map([["a", "1"]]);
    };
    await cache.lookUp("thing", ["a"], find1, () => ["a"]);
    expect(await find("a")).to.deep.equal({ a: "2" });
  });

  it("trusts the version in a job only if it has just read the same version itself", async () => {
    const documents = new Map([["a", "1"]]);
    const [producer, worker] = [open(documents), open(documents)];
    await producer.invalidate("a");
    await worker.refresh();
    await worker.find("a");
    documents.set("a", "2");
    await producer.invalidate("a");
    await producer.refresh();
    expect(await worker.refresh(producer.version()), "a job made after the change").to.equal(true);
    expect(await worker.find("a")).to.deep.equal({ a: "2" });
  });

  it("keeps what concerns other accounts when one account changes", async () => {
    const documents = new Map([
      ["a-1", "1"],
      ["b-1", "1"],
    ]);
    const [mine, theirs] = [open(documents), open(documents)];
    await theirs.invalidate("c");
    await mine.refresh();
    await mine.find("a-1", "b-1");
    for (let i = 0; i < 3; i++) {
      documents.set("a-1", `${i}`);
      await theirs.invalidate("a");
      expect(await mine.refresh()).to.equal(true);
      expect(await mine.find("a-1", "b-1")).to.deep.equal({ "a-1": `${i}`, "b-1": "1" });
    }
    expect(mine.queried.flat().filter(id => id === "b-1")).to.have.length(1);
  });

  it("drops everything if it missed more changes than Redis keeps, or Redis lost them", async () => {
    const documents = new Map([["b-1", "1"]]);
    const [mine, theirs] = [open(documents), open(documents)];
    await theirs.invalidate("a");
    await mine.refresh();
    await mine.find("b-1");
    documents.set("b-1", "2");
    await theirs.invalidate("b", ...Array.from({ length: 1000 }, (_, n) => `other${n}`));
    await mine.refresh();
    expect(await mine.find("b-1")).to.deep.equal({ "b-1": "2" });
    documents.set("b-1", "3");
    await platform.redis.del(platform.keys.routingVersion());
    await mine.refresh();
    expect(await mine.find("b-1")).to.deep.equal({ "b-1": "3" });
  });
});
