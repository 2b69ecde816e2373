import { expect } from "chai";
import { openRoutingCache } from "../../src/store/routing-cache.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("the directory", () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await openTestPlatform();
  });
  afterEach(() => platform.destroy());

  /** As another process has it, over documents that the test changes. */
  function open(documents: Map<string, string>) {
    const directory = openRoutingCache(platform.redis, platform.keys);
    const asked: string[][] = [];
    const look = async (...ids: string[]) => {
      const found = await directory.lookUp("thing", ids, async missing => {
        asked.push(missing);
        return new Map(missing.flatMap(id => (documents.has(id) ? [[id, documents.get(id) as string]] : [])));
      });
      return Object.fromEntries(found);
    };
    return { ...directory, asked, look };
  }

  it("asks once for what it keeps, and again for what was not there", async () => {
    const { refresh, look, asked } = open(new Map([["a", "1"]]));
    await refresh();
    expect(await look("a", "b")).to.deep.equal({ a: "1" });
    expect(await look("a", "b")).to.deep.equal({ a: "1" });
    expect(asked).to.deep.equal([["a", "b"], ["b"]]);
  });

  it("answers what another process has changed, from the next refresh on", async () => {
    const documents = new Map([["a", "1"]]);
    const [mine, theirs] = [open(documents), open(documents)];
    await mine.refresh();
    await mine.look("a");
    expect(await mine.refresh(), "nothing was changed").to.equal(false);
    documents.set("a", "2");
    await theirs.invalidate();
    expect(await mine.refresh()).to.equal(true);
    expect(await mine.look("a")).to.deep.equal({ a: "2" });
  });

  it("keeps nothing that was being found when a change came", async () => {
    const documents = new Map([["a", "1"]]);
    const { refresh, invalidate, look, lookUp } = open(documents);
    await refresh();
    await lookUp("thing", ["a"], async () => {
      documents.set("a", "2");
      await invalidate();
      await refresh();
      return new Map([["a", "1"]]);
    });
    expect(await look("a")).to.deep.equal({ a: "2" });
  });

  it("takes the version that a job names for the newest only where it has just read it itself", async () => {
    const documents = new Map([["a", "1"]]);
    const [maker, worker] = [open(documents), open(documents)];
    await maker.invalidate();
    await worker.refresh();
    await worker.look("a");
    documents.set("a", "2");
    await maker.invalidate();
    await maker.refresh();
    expect(await worker.refresh(maker.version()), "a job made after the change").to.equal(true);
    expect(await worker.look("a")).to.deep.equal({ a: "2" });
  });
});
