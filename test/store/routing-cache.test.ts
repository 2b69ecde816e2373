import { expect } from "chai";
import { openRoutingCache } from "../../src/store/routing-cache.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("routing cache", () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await openTestPlatform();
  });
  afterEach(() => platform.destroy());

  /** Opens the cache as one more process does, over documents that the test changes. */
  function open(documents: Map<string, string>) {
    const cache = openRoutingCache(platform.redis, platform.keys);
    const queried: string[][] = [];
    const find = async (...ids: string[]) => {
      const found = await cache.lookUp("thing", ids, async missing => {
        queried.push(missing);
        return new Map(missing.flatMap(id => (documents.has(id) ? [[id, documents.get(id) as string]] : [])));
      });
      return Object.fromEntries(found);
    };
    return { ...cache, queried, find };
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
    await theirs.invalidate();
    expect(await mine.refresh()).to.equal(true);
    expect(await mine.find("a")).to.deep.equal({ a: "2" });
  });

  it("does not cache a lookup that was under way during a change", async () => {
    const documents = new Map([["a", "1"]]);
    const { refresh, invalidate, find, lookUp } = open(documents);
    await refresh();
    await lookUp("thing", ["a"], async () => {
      documents.set("a", "2");
      await invalidate();
      await refresh();
      return new Map([["a", "1"]]);
    });
    expect(await find("a")).to.deep.equal({ a: "2" });
  });

  it("trusts the version in a job only if it has just read the same version itself", async () => {
    const documents = new Map([["a", "1"]]);
    const [producer, worker] = [open(documents), open(documents)];
    await producer.invalidate();
    await worker.refresh();
    await worker.find("a");
    documents.set("a", "2");
    await producer.invalidate();
    await producer.refresh();
    expect(await worker.refresh(producer.version()), "a job made after the change").to.equal(true);
    expect(await worker.find("a")).to.deep.equal({ a: "2" });
  });
});
