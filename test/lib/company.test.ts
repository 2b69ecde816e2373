import { expect } from "chai";
import { Company } from "../../src/lib/company.ts";

describe("accounts that share something", () => {
  it("are heavy if they use more than the average, and none is that is alone", () => {
    const company = new Company();
    company.note("a", 10);
    expect([company.isOne, company.isHeavy("a")]).to.deep.equal([true, false]);
    company.note("b", 1);
    company.note("c", 4);
    const isHeavy = ["a", "b", "c", "absent"].map(account => company.isHeavy(account));
    expect(isHeavy).to.deep.equal([true, false, false, false]);
    expect(company.isOne).to.equal(false);
  });

  it("are not heavy with less than what each may use in any case", () => {
    const company = new Company(10);
    company.note("b", 1);
    company.note("a", 9);
    expect(company.isHeavy("a")).to.equal(false);
    company.note("a", 9);
    expect(company.isHeavy("a")).to.equal(true);
  });

  it("are not heavy once the others are gone for three seconds", () => {
    let now = 10_000;
    const company = new Company(0, () => now);
    company.note("b", 1);
    now += 2900;
    company.note("a", 9);
    expect(company.isHeavy("a")).to.equal(true);
    now += 200;
    company.note("a", 9);
    expect([company.isOne, company.isHeavy("a")]).to.deep.equal([false, false]);
    company.note("b", 1);
    expect(company.isHeavy("a")).to.equal(true);
  });

  it("are not heavy if all use the same", () => {
    const company = new Company();
    for (const account of ["a", "b", "a", "b"]) company.note(account);
    expect(["a", "b"].map(account => company.isHeavy(account))).to.deep.equal([false, false]);
  });
});
