import { expect } from "chai";
import fc from "fast-check";
import { jsonErrorIndex } from "../../src/http/json-body.ts";

const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe("where a text stops being JSON", () => {
  const cases: [string, number | null][] = [
    ['{"a":[1,{"b":null}],"c":-1.5e3}', null],
    ['{"a":1,}', 7],
    ['{"a":1', 6],
    ["[1 2]", 3],
    ['{"a" 1}', 5],
    ["{a:1}", 1],
    ['{"a":"x\ny"}', 5],
    ["[1]]", 3],
    ["[}", 1],
    ["", 0],
    ["nul", 0],
    ["[01]", 2],
  ];
  for (const [text, index] of cases) {
    it(`is ${index} in ${JSON.stringify(text)}`, () => expect(jsonErrorIndex(text)).to.equal(index));
  }

  it("is known for exactly the texts that JSON.parse rejects", () => {
    const piece = fc.constantFrom(...'{}[],:-+.eE0123 \n"\\u0a', '"a"', "true", "null", '"a":');
    const text = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map(parts => parts.join("")),
      fc.tuple(fc.json(), fc.nat(), piece).map(([json, at, more]) => {
        const cut = at % (json.length + 1);
        return json.slice(0, cut) + more + json.slice(cut);
      }),
    );
    fc.assert(
      fc.property(text, given => {
        expect(jsonErrorIndex(given) === null).to.equal(isJson(given));
      }),
      { numRuns: 2000 },
    );
  });

  it("is found in long and deep texts", () => {
    expect(jsonErrorIndex(`["${"x".repeat(1_000_000)}",]`)).to.equal(1_000_004);
    expect(jsonErrorIndex(`["${"x".repeat(1_000_000)}`)).to.equal(1);
    expect(jsonErrorIndex(`["${"\\n".repeat(500_000)}`)).to.equal(1);
    expect(jsonErrorIndex("[".repeat(100_000))).to.equal(100_000);
  });
});
