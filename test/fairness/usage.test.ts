import { expect } from "chai";
import { Usage } from "../../src/fairness/usage.ts";

describe("accounts that share something", () => {
  it("are heavy if they use more than the average, and none is that is alone", () => {
    const usage = new Usage();
    usage.note("a", 10);
    expect([usage.isAlone, usage.isHeavy("a")]).to.deep.equal([true, false]);
    usage.note("b", 1);
    usage.note("c", 4);
    const isHeavy = ["a", "b", "c", "absent"].map(account => usage.isHeavy(account));
    expect(isHeavy).to.deep.equal([true, false, false, false]);
    expect(usage.isAlone).to.equal(false);
  });

  it("are not heavy with less than what each may use in any case", () => {
    const usage = new Usage(10);
    usage.note("b", 1);
    usage.note("a", 9);
    expect(usage.isHeavy("a")).to.equal(false);
    usage.note("a", 9);
    expect(usage.isHeavy("a")).to.equal(true);
  });

  it("are not heavy once the others are gone for three seconds", () => {
    let now = 10_000;
    const usage = new Usage(0, () => now);
    usage.note("b", 1);
    now += 2900;
    usage.note("a", 9);
    expect(usage.isHeavy("a")).to.equal(true);
    now += 200;
    usage.note("a", 9);
    expect([usage.isAlone, usage.isHeavy("a")]).to.deep.equal([false, false]);
    usage.note("b", 1);
    expect(usage.isHeavy("a")).to.equal(true);
  });

  it("are not heavy if all use the same", () => {
    const usage = new Usage();
    for (const account of ["a", "b", "a", "b"]) usage.note(account);
    expect(["a", "b"].map(account => usage.isHeavy(account))).to.deep.equal([false, false]);
  });
});
