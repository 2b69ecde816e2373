import { expect } from "chai";
import { transform } from "esbuild";
import { ParserTooSlow, withParser } from "../../src/components/parse-alone.ts";

const parse = () => withParser(5000, async () => (await transform("let a = 1")).code);

describe("calls of the parser", () => {
  it("end at their limit, and later ones still work", async () => {
    const late = await withParser(20, () => new Promise(() => {})).catch((error: unknown) => error);
    expect(late).to.be.instanceOf(ParserTooSlow);
    expect(await parse()).to.equal("let a = 1;\n");
  });

  it("that were under way when another one hit its limit are done again", async () => {
    const calls = await Promise.allSettled([
      withParser(1, () => new Promise(() => {})),
      ...Array.from({ length: 5 }, async () => {
        for (let round = 0; round < 20; round += 1) await parse();
      }),
    ]);
    expect(calls.map(({ status }) => status)).to.deep.equal(["rejected", ...Array(5).fill("fulfilled")]);
  });

  it("give esbuild's own diagnosis as it is", async () => {
    const failure = await withParser(5000, () => transform("let =", { logLevel: "silent" })).catch(
      (error: unknown) => error,
    );
    expect(failure).to.have.property("errors").with.length(1);
  });
});
