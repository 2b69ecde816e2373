import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { runTestFiles } from "../../script/lib/test-runner.mjs";

const CACHE = new URL("../../.cache/", import.meta.url).pathname;
const PASSES = `it("passes", () => {});`;
const FAILS = `it("fails", () => { throw new Error("always"); });`;
/** Fails in the first process that runs it. */
const FAILS_ONCE = `
  import { existsSync, writeFileSync } from "node:fs";
  it("fails at first", () => {
    const mark = new URL("mark", import.meta.url);
    if (existsSync(mark)) return;
    writeFileSync(mark, "");
    throw new Error("the first time");
  });`;

describe("the test runner", () => {
  let root: string;
  let said: string[];

  beforeEach(async () => {
    said = [];
    await mkdir(CACHE, { recursive: true });
    root = await mkdtemp(join(CACHE, "test-runner-"));
  });
  afterEach(() => rm(root, { recursive: true }));

  async function run(texts: Record<string, string>, rerun: boolean) {
    for (const [name, text] of Object.entries(texts)) await writeFile(join(root, name), text);
    const { files: _, ...counts } = await runTestFiles({
      root,
      files: Object.keys(texts),
      alone: [],
      jobs: 2,
      options: {},
      env: {},
      say: text => said.push(text),
      signal: new AbortController().signal,
      rerun,
    });
    return counts;
  }

  it("counts what passed and failed in all files", async () => {
    const counts = await run({ "a.test.mjs": PASSES, "b.test.mjs": FAILS, "c.test.mjs": FAILS_ONCE }, false);
    expect(counts).to.deep.equal({ passed: 1, failed: 2, skipped: 0, flaky: [] });
    expect(said.join("\n")).to.include("Error: always").and.include("Error: the first time");
  });

  it("runs failed files again if asked to: one that then passes is flaky, and its first failure stays listed @long", async () => {
    const counts = await run({ "a.test.mjs": PASSES, "b.test.mjs": FAILS, "c.test.mjs": FAILS_ONCE }, true);
    expect(counts).to.deep.equal({ passed: 2, failed: 1, skipped: 0, flaky: ["c.test.mjs"] });
    expect(said.join("\n")).to.include("Error: the first time");
  });

  it("runs nothing again if more files failed than chance explains", async () => {
    const names = Array.from({ length: 13 }, (_, n) => `${n}.test.mjs`);
    const counts = await run(Object.fromEntries(names.map(name => [name, FAILS])), true);
    expect(counts).to.deep.equal({ passed: 0, failed: 13, skipped: 0, flaky: [] });
    expect(said.join("\n").match(/Error: always/g)).to.have.length(13);
  });

  it("runs of each file the tests that its own options name", async () => {
    await writeFile(join(root, "a.test.mjs"), `${PASSES} ${FAILS}`);
    const counted = await runTestFiles({
      root,
      files: ["a.test.mjs"],
      alone: [],
      jobs: 1,
      options: {},
      optionsOf: () => ({ grep: "fails", invert: true }),
      env: {},
      say: text => said.push(text),
      signal: new AbortController().signal,
      rerun: false,
    });
    expect(counted).to.include({ passed: 1, failed: 0 });
  });

  it("counts a file that ends its process as one failed test, and goes on with the others", async () => {
    const counts = await run(
      { "a.test.mjs": `it("ends", () => process.exit(3));`, "b.test.mjs": PASSES },
      false,
    );
    expect(counts).to.deep.equal({ passed: 1, failed: 1, skipped: 0, flaky: [] });
    expect(said.join("\n")).to.include("ended in the middle of a.test.mjs (code 3)");
  });
});
