import { expect } from "chai";
import { importLocation, withLocation } from "../../src/components/import-location.ts";
import { AppError, invalidField } from "../../src/lib/errors.ts";

describe("the location of an import", () => {
  const cases: [text: string, specifier: string, location: string][] = [
    [`import a from "./a.mjs";`, "./a.mjs", " (x.mjs, line 1, column 15)"],
    [`\n\n  import './a.mjs'`, "./a.mjs", " (x.mjs, line 3, column 10)"],
    [`import {\n  a,\n} from\n  "./a.mjs";`, "./a.mjs", " (x.mjs, line 4, column 3)"],
    ["const a = require( `a+b` );", "a+b", " (x.mjs, line 1, column 20)"],
    [`export * from "./b"; await import("./a")`, "./a", " (x.mjs, line 1, column 35)"],
    [`const text = "./a"; import a from "./a";`, "./a", " (x.mjs, line 1, column 35)"],
    [`import a from "./ab";`, "./a", ""],
    [`import(["./a"][0])`, "./a", ""],
  ];
  for (const [text, specifier, location] of cases) {
    it(`is "${location}" for ${JSON.stringify(text)}`, () => {
      expect(importLocation({ id: "x.mjs", text }, specifier)).to.equal(location);
    });
  }

  it("is searched for without catastrophic backtracking", () => {
    const text = `import${" ".repeat(300_000)}(${" ".repeat(300_000)}${"from ".repeat(60_000)}`;
    expect(importLocation({ id: "x", text }, "./a")).to.equal("");
  });

  it("is added to an AppError and its fields, and to no other error", () => {
    const error = withLocation(
      invalidField("body", "component_code", "no"),
      " (x, line 1, column 2)",
    ) as AppError;
    expect(error).to.be.instanceOf(AppError).and.include({
      code: "invalid",
      message: "component_code: no (x, line 1, column 2)",
    });
    expect(error.fields[0]?.message).to.equal("no (x, line 1, column 2)");
    const other = new Error("ours");
    expect(withLocation(other, " (x)")).to.equal(other);
  });
});
