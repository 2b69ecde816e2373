import { expect } from "chai";
import { transform } from "esbuild";
import { EsbuildTimeoutError, withEsbuild } from "../../src/components/esbuild-process.ts";

const parse = () => withEsbuild(5000, async () => (await transform("let a = 1")).code);

describe("calls of esbuild", () => {
  it("end at their time limit, and later calls still work", async () => {
    const error = await withEsbuild(20, () => new Promise(() => {})).catch((error: unknown) => error);
    expect(error).to.be.instanceOf(EsbuildTimeoutError);
    expect(await parse()).to.equal("let a = 1;\n");
  });

  it("are repeated if they were running when another call reached its limit", async () => {
    const calls = await Promise.allSettled([
      withEsbuild(1, () => new Promise(() => {})),
      ...Array.from({ length: 5 }, async () => {
        for (let n = 0; n < 20; n += 1) await parse();
      }),
    ]);
    expect(calls.map(({ status }) => status)).to.deep.equal(["rejected", ...Array(5).fill("fulfilled")]);
  });

  it("throw esbuild's own diagnosis unchanged", async () => {
    const diagnosis = await withEsbuild(5000, () => transform("let =", { logLevel: "silent" })).catch(
      (error: unknown) => error,
    );
    expect(diagnosis).to.have.property("errors").with.length(1);
  });
});
