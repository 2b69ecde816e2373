import { expect } from "chai";
import { openOnce } from "../../src/lib/open-once.ts";

describe("openOnce", () => {
  it("opens once for many callers, and again after a failure", async () => {
    let opens = 0;
    let fails = true;
    const thing = openOnce(async () => {
      opens += 1;
      if (fails) throw new Error("away");
      return opens;
    });
    expect(thing.current()).to.equal(undefined);
    const failed = await Promise.allSettled([thing.get(), thing.get()]);
    expect(failed.map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    expect(opens).to.equal(1);
    expect(thing.current()).to.equal(undefined);
    fails = false;
    expect(await Promise.all([thing.get(), thing.get()])).to.deep.equal([2, 2]);
    expect(await thing.current()).to.equal(2);
  });
});
