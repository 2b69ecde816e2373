import { expect } from "chai";
import { bundleComponent } from "../../src/components/bundle.ts";
import { fromCode } from "../../src/components/load-modules.ts";
import { SCRIPT_START } from "../../src/sandbox/child/wire.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { bundleOf, openTestSandboxes, RUN } from "../sandbox/sandbox-fixture.ts";
import { type NpmRegistry, startNpmRegistry } from "../support/npm-registry.ts";
import { originOf } from "./import-bundle.ts";

const LINE = `exports.f = name => ({ name, text: "${"x".repeat(900)} é" });\n`;

describe("a component with packages of more than 10 MB", () => {
  let registry: NpmRegistry;
  let sandboxes: Sandboxes;
  before(async function () {
    this.timeout(60_000);
    const files = { "index.js": `${LINE.repeat(11_500)}exports.fs = require("fs"); exports.g = () => "é";` };
    registry = await startNpmRegistry([
      { manifest: { name: "huge", version: "1.0.0", main: "index.js" }, files },
    ]);
    sandboxes = await openTestSandboxes({ sourcesPerProcess: 2 });
  });
  after(async () => {
    await sandboxes?.close();
    await registry?.close();
  });

  const bundled = async (code: string) => {
    const options = { cacheDir: registry.cacheDir, npmEnvironment: registry.environment };
    return (await bundleComponent(fromCode(code), options)).code;
  };

  it("is a script, which runs as a module does @long", async function () {
    this.timeout(120_000);
    const code = await bundled(`import { fs, g } from "huge";
import { writeFileSync } from "node:fs";
let count = 0;
export default { name: "x", version: "1", async run(event) {
  count += 1;
  writeFileSync("/tmp/a", "written");
  this.$emit([count, g(), fs.readFileSync("/tmp/a", "utf8"), typeof import.meta.url]);
  if (event.fails) throw new Error("on purpose");
} };`);
    expect(code.startsWith(SCRIPT_START)).to.equal(true);
    // A V8 string of one byte for each character.
    expect(Buffer.byteLength(code)).to.equal(code.length);
    expect(originOf(code, "on purpose")).to.deep.equal({ file: "component.js", line: 8 });
    const bundle = bundleOf(code);
    const call = (key: string, event = {}) =>
      sandboxes.call(key, bundle, { ...RUN, event }, { owner: "u", isShareable: true });
    for (const [key, count] of [
      ["a", 1],
      ["a", 2],
      ["b", 1],
    ] as const) {
      const { emits, error } = await call(key);
      expect(error).to.equal(undefined);
      expect(emits[0]?.event).to.deep.equal([count, "é", "written", "string"]);
    }
    expect(sandboxes.stats().warm).to.equal(1);
    const { error } = await call("a", { fails: true });
    expect(error?.stack).to.include("component.js:8:").and.not.include("component.mjs");
  });

  it("stays a module if its code needs to be one @long", async function () {
    this.timeout(120_000);
    const code = await bundled(`import { g } from "huge";
const name = await Promise.resolve(g());
export default { name, version: "1", run() {} };`);
    expect(code.startsWith(SCRIPT_START)).to.equal(false);
  });
});
