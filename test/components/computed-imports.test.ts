// runs-long: npm test has test/components/npm-packages.test.ts and test/compatibility/events.test.ts
import { expect } from "chai";
import { bundleComponent } from "../../src/components/bundle.ts";
import { importLocation, withLocation } from "../../src/components/computed-imports.ts";
import { fromCode } from "../../src/components/load-modules.ts";
import { AppError, invalidField } from "../../src/lib/errors.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { bundleOf, openTestSandboxes, RUN } from "../sandbox/sandbox-fixture.ts";
import { type NpmRegistry, type Published, startNpmRegistry } from "../support/npm-registry.ts";

const words = (language: string) => `module.exports = "${language}";`;

/** Packages that find their own files as the real ones do that are named behind them. */
const PACKAGES: Published[] = [
  {
    manifest: { name: "aliases-require", version: "1.0.0", main: "index.js" },
    files: {
      // moment
      "index.js": `module.exports = name => { try { var aliasedRequire = require; return aliasedRequire("./locale/" + name); } catch { return "english"; } };`,
      "locale/de.js": words("de"),
      "locale/fr.js": words("fr"),
      "locale/notes.txt": "no module",
    },
  },
  {
    manifest: { name: "has-a-template", version: "1.0.0", main: "lib/index.js" },
    files: {
      // pdf-parse 1
      "lib/index.js": `module.exports = version => require(\`./engine/\${version}/build/engine.js\`);`,
      "lib/engine/v1/build/engine.js": words("engine 1"),
      "lib/engine/v2/build/engine.js": words("engine 2"),
      "lib/engine/v2/build/other.js": "syntax error of a file that is not meant",
    },
  },
  {
    manifest: { name: "imports-by-name", version: "1.0.0", type: "module", main: "index.mjs" },
    files: {
      "index.mjs": `const load = async name => (await import("./lang-" + name + ".mjs")).default;
export default load;`,
      "lang-de.mjs": 'export default "de";',
      "lang-fr.mjs": 'export default "fr";',
    },
  },
  {
    manifest: { name: "imports-a-setting", version: "1.0.0", type: "module", main: "index.mjs" },
    files: {
      // pdfjs-dist
      "index.mjs": `const settings = { workerSrc: "./engine.worker.mjs" };
export default async () => (await import(/*webpackIgnore: true*/ settings.workerSrc)).default;`,
      "engine.worker.mjs": 'export default "a worker";',
    },
  },
  {
    manifest: { name: "has-broken-files", version: "1.0.0", main: "index.js" },
    files: {
      "index.js": `module.exports = name => { try { return require("./parts/" + name); } catch (error) { return error.code; } };`,
      "parts/good.js": words("good"),
      "parts/broken.js": "this is { no code",
    },
  },
  {
    manifest: { name: "requires-anything", version: "1.0.0", main: "index.js" },
    files: {
      "index.js": `module.exports = [name => require("./" + name), name => require("./parts/" + name)];`,
      "other.js": words("other"),
      "parts/one.js": words("one"),
    },
  },
  {
    manifest: { name: "reads-large-data", version: "1.0.0", main: "index.js" },
    files: {
      // tiktoken
      "index.js": `const fs = require("fs"), path = require("path"), read = name => fs.readFileSync(path.join(__dirname, name));
module.exports = () => [read("named.wasm").length, JSON.parse(read("package.json")).version];
module.exports.other = () => read(["a", "large.bin"].join("-"));`,
      "a-large.bin": Buffer.alloc(LIMITS.packageDataBytes.value - 2000),
      "named.wasm": Buffer.alloc(5000),
    },
  },
];

describe("files that packages find by a computed name", () => {
  let registry: NpmRegistry;
  let sandboxes: Sandboxes;
  before(async () => {
    [registry, sandboxes] = await Promise.all([startNpmRegistry(PACKAGES), openTestSandboxes()]);
  });
  after(async () => {
    await sandboxes?.close();
    await registry?.close();
  });

  async function run(name: string, expression: string) {
    const code = `import found from "${name}";
export default { name: "x", version: "1", async run() { this.$emit(${expression}); } };`;
    const options = { cacheDir: registry.cacheDir, npmEnvironment: registry.environment };
    const bundled = await bundleComponent(fromCode(code), options);
    const { emits, error } = await sandboxes.call(
      expression,
      { ...bundleOf(bundled.code), hash: expression },
      RUN,
    );
    return { event: emits[0]?.event, error };
  }

  const FOUND: [name: string, expression: string, event: unknown][] = [
    ["aliases-require", '[found("de"), found("fr"), found("xx")]', ["de", "fr", "english"]],
    ["has-a-template", '[found("v1"), found("v2")]', ["engine 1", "engine 2"]],
    ["imports-by-name", '[await found("de"), await found("fr")]', ["de", "fr"]],
    ["imports-a-setting", "await found()", "a worker"],
    ["reads-large-data", "found()", [5000, "1.0.0"]],
  ];
  for (const [name, expression, event] of FOUND) {
    it(`are those that it may mean: ${name}`, async () => {
      expect(await run(name, expression)).to.deep.equal({ event, error: undefined });
    });
  }

  it("are left out if one of them is not fit for a bundle, and the rest works", async () => {
    const { event, error } = await run("has-broken-files", 'found("good")');
    expect([error, event]).to.deep.equal([undefined, "MODULE_NOT_FOUND"]);
  });

  it("are not all files of the package if the name has no folder", async () => {
    expect((await run("requires-anything", 'found[1]("one")')).event).to.equal("one");
    expect((await run("requires-anything", 'found[0]("other")')).error?.message).to.match(
      /other|not with the component/,
    );
  });

  it("are said not to be with the component, and why, if they are not", async () => {
    const { error } = await run("reads-large-data", "found.other().length");
    expect(error?.message)
      .to.match(/^ENOENT: .*a-large\.bin' is not with the component: /)
      .and.include(`${LIMITS.packageDataBytes.value / 1024 ** 2} MB of data`);
  });
});

describe("the location of an import", () => {
  const cases: [text: string, specifier: string, location: string][] = [
    [`import a from "./a.mjs";`, "./a.mjs", " (x.mjs, line 1, column 15)"],
    [`\n\n  import './a.mjs'`, "./a.mjs", " (x.mjs, line 3, column 10)"],
    [`import {\n  a,\n} from\n  "./a.mjs";`, "./a.mjs", " (x.mjs, line 4, column 3)"],
    ["const a = require( `a+b` );", "a+b", " (x.mjs, line 1, column 20)"],
    [`export * from "./b"; await import("./a")`, "./a", " (x.mjs, line 1, column 35)"],
    [`const text = "./a"; import a from "./a";`, "./a", " (x.mjs, line 1, column 35)"],
    [`import a from "./ab";`, "./a", ""],
    [`import(["./a"][0])`, "./a", ""],
  ];
  for (const [text, specifier, location] of cases) {
    it(`is "${location}" for ${JSON.stringify(text)}`, () => {
      expect(importLocation({ id: "x.mjs", text }, specifier)).to.equal(location);
    });
  }

  it("is searched for without catastrophic backtracking", () => {
    const text = `import${" ".repeat(300_000)}(${" ".repeat(300_000)}${"from ".repeat(60_000)}`;
    expect(importLocation({ id: "x", text }, "./a")).to.equal("");
  });

  it("is added to an AppError and its fields, and to no other error", () => {
    const error = withLocation(
      invalidField("body", "component_code", "no"),
      " (x, line 1, column 2)",
    ) as AppError;
    expect(error).to.be.instanceOf(AppError).and.include({
      code: "invalid",
      message: "component_code: no (x, line 1, column 2)",
    });
    expect(error.fields[0]?.message).to.equal("no (x, line 1, column 2)");
    const other = new Error("ours");
    expect(withLocation(other, " (x)")).to.equal(other);
  });
});
