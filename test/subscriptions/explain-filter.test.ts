import { expect } from "chai";
import fc from "fast-check";
import { explainMismatch } from "../../src/subscriptions/explain-filter.ts";
import { checkFilter, type Filter, matches } from "../../src/subscriptions/filter.ts";

describe("the explanation of a filter that keeps an event out", () => {
  const event = {
    issue: { state: "closed", labels: ["bug", "ui"], number: 7 },
    text: "x".repeat(200),
    "System.State": "new",
  };
  const cases: [string, Filter, string][] = [
    ["a value", { "issue.state": "open" }, 'issue.state must be "open", but is "closed"'],
    ["an absent path", { "issue.owner": "anna" }, 'issue.owner must be "anna", but is absent'],
    ["an operator", { "issue.number": { $gt: 5, $lt: 7 } }, "issue.number must satisfy $lt 7, but is 7"],
    ["a key with a dot", { "System\\.State": "open" }, 'System\\.State must be "open", but is "new"'],
    [
      "the first condition",
      { "issue.number": 7, "issue.state": "open" },
      'issue.state must be "open", but is "closed"',
    ],
    ["$and", { $and: [{ "issue.number": 7 }, { "issue.number": 8 }] }, "issue.number must be 8, but is 7"],
    [
      "$or",
      { $or: [{ "issue.number": 8 }, { "issue.state": "open" }] },
      'none of $or matches: issue.number must be 8, but is 7; issue.state must be "open", but is "closed"',
    ],
    ["$not", { $not: { "issue.number": 7 } }, 'matches what $not excludes: {"issue.number":7}'],
  ];
  for (const [what, filter, expected] of cases) {
    it(`names ${what}`, () => {
      expect(explainMismatch(filter, event)).to.equal(expected);
    });
  }

  it("shortens long values", () => {
    expect(explainMismatch({ text: "y" }, event)).to.have.length.below(130);
  });

  it("exists exactly if the filter does not match, whatever filter and event are", () => {
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
    const condition = fc.oneof(
      leaf,
      fc.record({ $gt: fc.integer() }),
      fc.record({ $in: fc.array(leaf) }),
      fc.record({ $exists: fc.boolean() }),
    );
    const key = fc.constantFrom("a", "b", "a.b", "c.0");
    const flat = fc.dictionary(key, condition, { maxKeys: 3 });
    const filters = fc.oneof(
      flat,
      fc.record({ $and: fc.array(flat, { minLength: 1 }) }),
      fc.record({ $or: fc.array(flat, { minLength: 1 }) }),
      fc.record({ $not: flat }),
    );
    fc.assert(
      fc.property(filters, fc.jsonValue(), (filter, value) => {
        checkFilter(filter);
        expect(explainMismatch(filter, value) === null).to.equal(matches(filter, value));
      }),
    );
  });
});
