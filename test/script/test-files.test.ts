import { fileURLToPath } from "node:url";
import { expect } from "chai";
import {
  howLong,
  isUnitTest,
  longestFirst,
  partOf,
  SLOWEST,
  selectFiles,
  testFiles,
} from "../../script/lib/test-files.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

describe("npm test", () => {
  it("selects files by their path, by their folder and by a part of their path", () => {
    const own = "test/script/test-files.test.ts";
    expect(selectFiles(root, [own])).to.deep.equal([own]);
    expect(selectFiles(root, ["test/script"])).to.include(own);
    expect(selectFiles(root, ["script/test-fil", own])).to.deep.equal([own]);
    expect(selectFiles(root, [])).to.deep.equal(testFiles(root));
    expect(() => selectFiles(root, ["no-such-test"])).to.throw('no test file matches "no-such-test"');
  });

  it("counts as unit tests the files that start no store, sandbox or other process", () => {
    const isUnit = (file: string) => isUnitTest(root, file);
    expect(isUnit("test/script/test-files.test.ts")).to.equal(true);
    expect(isUnit("test/flows/end-to-end.test.ts"), "stores").to.equal(false);
    expect(isUnit("test/sandbox/call.test.ts"), "sandboxes").to.equal(false);
    expect(isUnit("test/script/supervisor.test.ts"), "processes").to.equal(false);
  });

  it("leaves long files and long tests to a command of their own, and nothing to neither", () => {
    const own = "test/script/test-files.test.ts";
    const files = testFiles(root);
    for (const long of ["all", "tests", "none"])
      expect(files.map(file => howLong(root, file))).to.include(long);
    for (const file of files) {
      const [short, long] = [partOf(root, file, false), partOf(root, file, true)];
      const isWhole = (part: object | undefined) => part && Object.keys(part).length === 0;
      const isDivided =
        short?.grep !== undefined && short.grep === long?.grep && short.invert !== long?.invert;
      expect(isDivided || (isWhole(short) && !long) || (isWhole(long) && !short), file).to.equal(true);
    }
    expect(howLong(root, own)).to.equal("none");
  });

  it("starts with the files that took longest, or that are known to be slow", () => {
    const [slow = ""] = SLOWEST;
    const durations = { "a.test.ts": 10, "b.test.ts": 30 };
    expect(longestFirst(["a.test.ts", "c.test.ts", "b.test.ts", slow], durations)).to.deep.equal([
      slow,
      "b.test.ts",
      "a.test.ts",
      "c.test.ts",
    ]);
    expect(testFiles(root)).to.include.members([...SLOWEST]);
  });
});
