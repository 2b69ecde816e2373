// runs-long: npm test has test/sandbox/call.test.ts, with small bundles

import { writeFile } from "node:fs/promises";
import { expect } from "chai";
import { LIMITS as BOUNDS } from "../../src/limits/catalogue.ts";
import { SCRIPT_START } from "../../src/sandbox/child/wire.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { LIMITS, openTestSandboxes, RUN } from "./sandbox-fixture.ts";

/** A class with many methods, as clients of large APIs have them. */
const module = (n: number) => `var require_v${n} = __commonJS((exports, module) => {
  class Resource${n} {
    constructor(context) { this.context = context; }
${Array.from(
  { length: 20 },
  (_, i) => `    method${i}(given, callback) {
      let params = given || {};
      if (typeof given === "function") { callback = given; params = {}; }
      const rootUrl = params.rootUrl || "https://example${n}.test/";
      const url = (rootUrl + "/v${n}/{+name}/${i}").replace(/([^:]\\/)\\/+/g, "$1");
      return { options: Object.assign({ url, method: "GET" }, params), params, required: ["name"], context: this.context };
    }
`,
).join("")}  }
  exports.Resource = Resource${n};
});
`;

/** Returns a bundle of that many MB in the form of a script, which evaluates all that it contains. */
function largeScript(megabytes: number) {
  const parts = [
    `${SCRIPT_START}var __commonJS = (cb, mod) => () => (mod || cb((mod = { exports: {} }).exports, mod), mod.exports);\n`,
  ];
  let bytes = 0;
  for (; bytes < megabytes * 1024 * 1024 - 100_000; bytes += parts.at(-1)?.length ?? 0)
    parts.push(module(parts.length));
  const all = parts.slice(1).map((_, n) => `require_v${n + 1}()`);
  const component = `{ name: "Large", version: "1", run() { this.$emit(all.length); } }`;
  parts.push(`const all = [${all}];\nmodule.exports = { default: ${component} };\n})\n`);
  return {
    hash: `large-${megabytes}`,
    bytes,
    writeTo: (path: string) => writeFile(path, parts.join("")),
    modules: all.length,
  };
}

describe("a large bundle", () => {
  let sandboxes: Sandboxes;
  before(async () => {
    const heapMb = BOUNDS.runHeapBytes.value / 1024 ** 2;
    sandboxes = await openTestSandboxes({ limits: { ...LIMITS, heapMb } });
  });
  after(() => sandboxes?.close());

  it("of the most that a bundle may have is described and run within the bounds of any other", async function () {
    this.timeout(120_000);
    const { modules, ...bundle } = largeScript(BOUNDS.bundleBytes.value / 1024 ** 2);
    expect(await sandboxes.describe(bundle)).to.include({ name: "Large" });
    const { emits, error } = await sandboxes.call("k", bundle, RUN);
    expect(error).to.equal(undefined);
    expect(emits.map(({ event }) => event)).to.deep.equal([modules]);
  });

  it("that takes too much memory is rejected with its size and the limit", async function () {
    this.timeout(120_000);
    const small = await openTestSandboxes({ limits: { ...LIMITS, heapMb: 32 } });
    try {
      const { modules: _, ...bundle } = largeScript(BOUNDS.bundleBytes.value / 1024 ** 2);
      const error = await small.describe(bundle).catch((error: Error) => error);
      expect(error).to.have.property("message").that.includes("SIZES_MB=heap:32").and.includes("has 50 MB");
    } finally {
      await small.close();
    }
  });
});
