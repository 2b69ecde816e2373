import { fileURLToPath } from "node:url";
import { expect } from "chai";
import {
  isUnitTest,
  longestFirst,
  runsLong,
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

  it("leaves the long files to a command of their own, and each says what of it is in npm test", () => {
    expect(runsLong(root, "test/script/test-files.test.ts")).to.equal(false);
    expect(testFiles(root).filter(file => runsLong(root, file))).not.to.deep.equal([]);
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
