import { expect } from "chai";
import { atPlace, placeOfImport } from "../../src/components/place-of-import.ts";
import { AppError, invalidField } from "../../src/lib/errors.ts";

describe("the place of an import", () => {
  const places: [text: string, specifier: string, place: string][] = [
    [`import a from "./a.mjs";`, "./a.mjs", " (x.mjs, line 1, column 15)"],
    [`\n\n  import './a.mjs'`, "./a.mjs", " (x.mjs, line 3, column 10)"],
    [`import {\n  a,\n} from\n  "./a.mjs";`, "./a.mjs", " (x.mjs, line 4, column 3)"],
    ["const a = require( `a+b` );", "a+b", " (x.mjs, line 1, column 20)"],
    [`export * from "./b"; await import("./a")`, "./a", " (x.mjs, line 1, column 35)"],
    [`const text = "./a"; import a from "./a";`, "./a", " (x.mjs, line 1, column 35)"],
    [`import a from "./ab";`, "./a", ""],
    [`import(["./a"][0])`, "./a", ""],
  ];
  for (const [text, specifier, place] of places) {
    it(`is ${place || "not told"} for ${JSON.stringify(text)}`, () => {
      expect(placeOfImport({ id: "x.mjs", text }, specifier)).to.equal(place);
    });
  }

  it("is found at one speed, whatever blanks and words stand there", () => {
    const text = `import${" ".repeat(300_000)}(${" ".repeat(300_000)}${"from ".repeat(60_000)}`;
    expect(placeOfImport({ id: "x", text }, "./a")).to.equal("");
  });

  it("is told with a refusal and its field, and with nothing else", () => {
    const refused = atPlace(
      invalidField("body", "component_code", "no"),
      " (x, line 1, column 2)",
    ) as AppError;
    expect(refused).to.be.instanceOf(AppError).and.include({
      code: "invalid",
      message: "component_code: no (x, line 1, column 2)",
    });
    expect(refused.fields[0]?.message).to.equal("no (x, line 1, column 2)");
    const other = new Error("ours");
    expect(atPlace(other, " (x)")).to.equal(other);
  });
});
