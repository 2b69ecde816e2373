import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../support/built.ts";

describe("a test that is skipped", () => {
  it("says why", () => {
    const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
    const silent = files.filter(
      file =>
        file.endsWith(".ts") &&
        file !== "support/skip.ts" &&
        /\b(this|context)\.skip\(\)/.test(readFileSync(join(root, "test", file), "utf8")) &&
        file !== "script/skips.test.ts",
    );
    expect(silent, "use skipBecause of test/support/skip.ts").to.deep.equal([]);
  });
});
