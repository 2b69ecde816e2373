import { expect } from "chai";
import { fileInStack, framesOf } from "../../dashboard/lib/stack.ts";

describe("the lines of a stack", () => {
  it("name places in the component's own files, and in no others", () => {
    const stack = `TypeError: out of paper
with a second line
    at print (lib/printer.mjs:12:9)
    at async Object.run (component.js:8:30)
    at npm:axios/lib/core/settle.js:19:12
    at handle (node:internal/process:3:1)
Caused by: Error: jam
    at component.js:3:1`;
    const places = framesOf(stack).map(({ text, file, line }) => (file ? `${file} ${line}` : text.trim()));
    expect(places).to.deep.equal([
      "lib/printer.mjs 12",
      "component.js 8",
      "at npm:axios/lib/core/settle.js:19:12",
      "at handle (node:internal/process:3:1)",
      "Caused by: Error: jam",
      "component.js 3",
    ]);
    expect(framesOf("Timeout: the run took longer than 300 s")).to.deep.equal([]);
  });

  it("lead to the file that they mean, whatever its folder", () => {
    const paths = ["shop/till.mjs", "shop/lib/printer.mjs", "common/money.mjs"];
    expect(fileInStack(paths, "shop/till.mjs", "till.mjs")).to.equal("shop/till.mjs");
    expect(fileInStack(paths, "shop/till.mjs", "lib/printer.mjs")).to.equal("shop/lib/printer.mjs");
    expect(fileInStack(paths, "shop/till.mjs", "../common/money.mjs")).to.equal("common/money.mjs");
    expect(fileInStack(paths, "shop/till.mjs", "other.mjs")).to.equal(undefined);
    expect(fileInStack([""], "", "component.js"), "code without a name").to.equal("");
  });
});
