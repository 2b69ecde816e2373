import { expect } from "chai";
import fc from "fast-check";
import { AppError } from "../../src/lib/errors.ts";
import { checkFilter, explainMismatch, type Filter, matches } from "../../src/subscriptions/filter.ts";

const event = {
  action: "opened",
  n: 5,
  labels: [{ name: "bug" }],
  tags: ["a", "b"],
  nested: { deep: { yes: true } },
  none: null,
  "System.State": "New",
  fields: { "System.Title": "a", "C:\\": { x: 1 }, "": 2 },
  "App\\Job": 3,
  or: [{ n: 1 }],
  range: { gte: 100 },
};

describe("subscription filters", () => {
  const rows: [string, Filter, boolean][] = [
    ["an empty filter", {}, true],
    ["equal values", { action: "opened", n: 5 }, true],
    ["one unequal value", { action: "opened", n: 6 }, false],
    ["a path into objects and arrays", { "labels.0.name": "bug", "nested.deep.yes": true }, true],
    ["a deep value", { nested: { deep: { yes: true } } }, true],
    ["null as a value", { none: null }, true],
    ["an absent path", { "nested.other": null }, false],
    ["$eq and $ne", { n: { $eq: 5, $ne: 4 } }, true],
    ["$gt on numbers", { n: { $gt: 4, $lte: 5 } }, true],
    ["$gt on different types", { n: { $gt: "4" } }, false],
    ["$gte on strings", { action: { $gte: "open" } }, true],
    ["$in", { action: { $in: ["closed", "opened"] } }, true],
    ["$nin", { action: { $nin: ["opened"] } }, false],
    ["$exists", { none: { $exists: true }, absent: { $exists: false } }, true],
    ["$contains in an array", { tags: { $contains: "b" } }, true],
    ["$contains in a string", { action: { $contains: "pen" } }, true],
    ["$startsWith", { action: { $startsWith: "op" } }, true],
    ["$or", { $or: [{ n: 1 }, { n: 5 }] }, true],
    ["$and", { $and: [{ n: 5 }, { action: "closed" }] }, false],
    ["$not", { $not: { n: 5 } }, false],
    ["a key with a dot", { "System\\.State": "New" }, true],
    ["a key with a dot that is not escaped", { "System.State": "New" }, false],
    ["a key with a dot below another", { "fields.System\\.Title": { $startsWith: "a" } }, true],
    ["a key that ends with a backslash", { "fields.C:\\\\.x": 1 }, true],
    ["a backslash before any other character", { "App\\Job": 3 }, true],
    ["an empty key", { "fields.": 2 }, true],
    ["an object of an operator's name, in $eq", { range: { $eq: { gte: 100 } } }, true],
    ["the path into such an object", { "range.gte": 100 }, true],
    ["an array of objects at the key or, in $eq", { or: { $eq: [{ n: 1 }] } }, true],
    ["an object of an operator's name and another", { range: { gte: 100, unit: "m" } }, false],
    ["a prototype's property", { "constructor.name": "Object" }, false],
  ];
  for (const [what, filter, expected] of rows) {
    it(`${expected ? "match" : "do not match"} by ${what}`, () => {
      checkFilter(filter);
      expect(matches(filter, event)).to.equal(expected);
    });
  }

  const invalid: [unknown, string][] = [
    [[], "filter"],
    ["x", "filter"],
    [{ $where: "1" }, "filter.$where"],
    [{ a: { $regex: "x" } }, "filter.a.$regex"],
    [{ a: { $in: 1 } }, "filter.a.$in"],
    [{ a: { $gt: {} } }, "filter.a.$gt"],
    [{ $or: [] }, "filter.$or"],
    [{ $and: [{ b: { $exists: 1 } }] }, "filter.$and.0.b.$exists"],
    [{ $not: [] }, "filter.$not"],
    [{ a: "x".repeat(5000) }, "filter"],
    [{ total: { gte: 100 } }, "filter.total"],
  ];
  for (const [filter, path] of invalid) {
    it(`are rejected with the path ${path}: ${JSON.stringify(filter).slice(0, 40)}`, () => {
      try {
        checkFilter(filter);
      } catch (error) {
        expect((error as AppError).fields[0]?.path).to.equal(path);
        return;
      }
      throw new Error("was accepted");
    });
  }

  const meant: [Filter, string, RegExp][] = [
    [{ total: { gte: 100 } }, "filter.total", /did you mean \$gte at the path total\?.*\$eq/],
    [{ total: { gte: 100, lt: 200 } }, "filter.total", /did you mean \$gte, \$lt at/],
    [{ total: { $gte: 100, lt: 200 } }, "filter.total.lt", /did you mean \$lt\?/],
    [{ state: { in: ["a"] } }, "filter.state", /did you mean \$in at/],
    [{ $and: [{ $not: { a: { exists: true } } }] }, "filter.$and.0.$not.a", /did you mean \$exists at/],
    [
      { order: { total: { $gte: 100 } } },
      "filter.order.total",
      /did you mean \$gte at the path order\.total\?/,
    ],
    [{ o: { "a.b": { ne: 1 } } }, "filter.o.a.b", /did you mean \$ne at the path o\.a\\\.b\?/],
    [{ or: [{ a: 1 }, { b: 2 }] }, "filter.or", /did you mean \$or\?/],
    [{ and: [{ a: 1 }] }, "filter.and", /did you mean \$and\?/],
    [{ not: { a: 1 } }, "filter.not", /did you mean \$not\?/],
  ];
  for (const [filter, path, message] of meant) {
    it(`are rejected with what was probably meant: ${JSON.stringify(filter)}`, () => {
      expect(() => checkFilter(filter))
        .to.throw(AppError, message)
        .with.nested.property("fields[0].path", path);
    });
  }

  for (const filter of [{ total: { gte: 100 } }, { order: { total: { $gte: 100 } } }, { not: { a: 1 } }]) {
    it(`go on as values if an earlier release stored them: ${JSON.stringify(filter)}`, () => {
      expect(
        matches(filter, { total: { gte: 100 }, order: { total: { $gte: 100 } }, not: { a: 1 } }),
      ).to.equal(true);
    });
  }

  it("never throw for any event, and $not always inverts the result", () => {
    const operand = fc.jsonValue({ maxDepth: 2 });
    const name = fc.constantFrom(
      "$eq",
      "$ne",
      "$gt",
      "$lt",
      "$in",
      "$nin",
      "$exists",
      "$contains",
      "$startsWith",
    );
    const filter = fc.oneof(
      fc.dictionary(fc.string(), operand),
      fc.dictionary(
        fc.constantFrom("a", "a.b", "0", "__proto__", "length"),
        fc.dictionary(name, operand, { minKeys: 1 }),
      ),
    );
    fc.assert(
      fc.property(filter, fc.jsonValue({ maxDepth: 4 }), (candidate, anything) => {
        try {
          checkFilter(candidate);
        } catch (error) {
          expect(error).to.be.instanceOf(AppError);
          return;
        }
        const isMatch = matches(candidate as Filter, anything);
        expect(matches({ $not: candidate }, anything)).to.equal(!isMatch);
      }),
      { numRuns: 2000 },
    );
  });
});

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
