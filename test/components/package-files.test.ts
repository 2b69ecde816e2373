// runs-long: npm test has test/components/npm-packages.test.ts
import { expect } from "chai";
import { bundleComponent } from "../../src/components/bundle.ts";
import { fromCode } from "../../src/components/load-modules.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { bundleOf, openTestSandboxes, RUN } from "../sandbox/sandbox-fixture.ts";
import { type NpmRegistry, type Published, startNpmRegistry } from "../support/npm-registry.ts";

const PACKAGES: Published[] = [
  {
    manifest: { name: "reads-beside", version: "1.0.0", main: "lib/index.js" },
    files: {
      "lib/index.js": `const fs = require("fs"), path = require("path");
const read = name => fs.readFileSync(path.join(__dirname, "..", "data", name), "utf8");
const found = read("words.txt");
const named = fs.readFileSync(path.join(__dirname, "../data/named.js"), "utf8");
module.exports = () => [found, fs.readdirSync(\`\${__dirname}/../data\`).sort(), path.basename(__filename), named];`,
      "data/words.txt": "words of its own",
      "data/LICENSE": "a document",
      "data/code.js": "module.exports = 1;",
      "data/named.js": "a template",
      "data/z-large.bin": Buffer.alloc(LIMITS.packageDataBytes.value),
    },
  },
  {
    manifest: { name: "reads-by-url", version: "1.0.0", type: "module", main: "index.js" },
    files: {
      "index.js": `import { readFile } from "node:fs/promises";
export default () => readFile(new URL("./a b.json", import.meta.url), "utf8");`,
      "a b.json": `{"a": 1}`,
    },
  },
  {
    manifest: { name: "has-it-read", version: "1.0.0", main: "index.js", dependencies: { reader: "1.0.0" } },
    files: {
      "index.js": `module.exports = () => require("reader")(require("path").join(__dirname, "main.tpl"));`,
      "main.tpl": "read by another",
      "other.tpl": "read by none",
    },
  },
  {
    manifest: { name: "reader", version: "1.0.0", main: "index.js" },
    files: { "index.js": `module.exports = path => require("fs").readFileSync(path, "utf8");` },
  },
  {
    manifest: {
      name: "resolves-beside",
      version: "1.0.0",
      main: "index.js",
      dependencies: { reader: "1.0.0" },
    },
    files: {
      "index.js": `const fs = require("fs"), found = require.resolve("./data/words.mjs");
const codeOf = work => { try { return work(); } catch (error) { return error.code; } };
const other = [require.resolve("reader"), require.resolve("fs")];
module.exports = () => [fs.readFileSync(found, "utf8"), other, codeOf(() => require.resolve("is-not-there"))];`,
      "data/words.mjs": "words to resolve",
    },
  },
  {
    manifest: { name: "looks-around", version: "1.0.0", main: "index.js" },
    files: {
      "index.js": `const fs = require("fs"), promises = require("fs/promises");
const codeOf = work => { try { return work(); } catch (error) { return error.code; } };
module.exports = async () => [
  fs.existsSync("/etc/alpine-release"), codeOf(() => fs.readFileSync("/etc/os-release")),
  await promises.stat("/etc").catch(error => error.code),
  await new Promise(done => fs.readdir("/", error => done(error.code))), require("os").availableParallelism(), process.report.getReport(),
];`,
    },
  },
  {
    manifest: { name: "names-its-folder", version: "1.0.0", main: "index.js" },
    files: { "index.js": "module.exports = __dirname;", "data.txt": "never read" },
  },
];

describe("files that packages read", () => {
  let registry: NpmRegistry;
  let sandboxes: Sandboxes;
  before(async () => {
    [registry, sandboxes] = await Promise.all([startNpmRegistry(PACKAGES), openTestSandboxes()]);
  });
  after(async () => {
    await sandboxes?.close();
    await registry?.close();
  });

  async function bundled(name: string, expression: string) {
    const code = `import found from "${name}";
export default { name: "x", version: "1", async run() { this.$emit(await ${expression}); } };`;
    const options = { cacheDir: registry.cacheDir, npmEnvironment: registry.environment };
    return await bundleComponent(fromCode(code), options);
  }

  async function emitted(name: string, expression: string) {
    const { code } = await bundled(name, expression);
    const { emits, error } = await sandboxes.call(name, bundleOf(code), RUN);
    expect(error?.stack).to.equal(undefined);
    return { event: emits[0]?.event, code };
  }

  it("are where their code looks for them, but for code, documents, and what exceeds the bound", async () => {
    const { event } = await emitted("reads-beside", "found()");
    expect(event).to.deep.equal(["words of its own", ["named.js", "words.txt"], "index.js", "a template"]);
  });

  it("are found by the address of a module", async () => {
    expect((await emitted("reads-by-url", "found()")).event).to.equal(`{"a": 1}`);
  });

  it("are found by require.resolve", async () => {
    const place = "/tmp/.headwater-packages/node_modules/reader/index.js";
    expect((await emitted("resolves-beside", "found()")).event).to.deep.equal([
      "words to resolve",
      [place, "fs"],
      "MODULE_NOT_FOUND",
    ]);
  });

  it("are all that there is for packages that look around on the machine, with Node's errors", async () => {
    expect((await emitted("looks-around", "found()")).event).to.deep.equal([
      false,
      "EACCES",
      "EACCES",
      "EACCES",
      1,
      {},
    ]);
  });

  it("are found by another package, if the code names them", async () => {
    const { event, code } = await emitted("has-it-read", "found()");
    expect(event).to.equal("read by another");
    expect(code).not.to.include(Buffer.from("read by none").toString("base64"));
  });

  it("are there for each source of a shared process", async () => {
    const shared = await openTestSandboxes({ sourcesPerProcess: 4 });
    try {
      const bundle = bundleOf((await bundled("reads-beside", "found()")).code);
      for (const key of ["a", "b"]) {
        const { emits } = await shared.call(key, bundle, RUN, { owner: "u", isShareable: true });
        expect(emits[0]?.event).to.include("words of its own");
      }
      expect(shared.stats().warm).to.equal(1);
    } finally {
      await shared.close();
    }
  });

  it("are left out of a bundle whose packages read none", async () => {
    const { event, code } = await emitted("names-its-folder", "found");
    expect(event).to.equal("/tmp/.headwater-packages/node_modules/names-its-folder");
    expect(code).not.to.include(Buffer.from("never read").toString("base64"));
  });
});
