import { expect } from "chai";
import { filesOf, read } from "./repository.ts";

const STATUS = /^# \d{4} .+\n\nStatus: (?:accepted, \d{4}-\d{2}-\d{2}|withdrawn|superseded by \d{4})/;
const MAX_LINES = 40;

describe("docs/decisions", () => {
  const decisions = filesOf("docs/decisions");

  it("has a status below each title, then Decision, Why and Price", () => {
    expect(decisions.length).to.be.greaterThan(30);
    const others = decisions.filter(file => {
      const sections = [...read(file).matchAll(/^#{2,} (.*)$/gm)].map(([, heading]) => heading);
      return !STATUS.test(read(file)) || sections.join() !== "Decision,Why,Price";
    });
    expect(others).to.deep.equal([]);
  });

  it(`takes at most ${MAX_LINES} lines for each`, () => {
    const overlong = decisions.filter(file => read(file).trimEnd().split("\n").length > MAX_LINES);
    expect(overlong).to.deep.equal([]);
  });

  it("numbers each once", () => {
    const numbers = decisions.map(file => /\/(\d{4})-/.exec(file)?.[1]);
    expect(new Set(numbers).size).to.equal(decisions.length);
  });
});
