// runs-long: npm test has test/components/npm-packages.test.ts
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { bundleComponent } from "../../src/components/bundle.ts";
import { fromUrl } from "../../src/components/fetch-modules.ts";
import { fromCode, fromFile } from "../../src/components/load-modules.ts";
import { createEgress } from "../../src/egress/agent.ts";
import { type NpmRegistry, type Published, startNpmRegistry } from "../support/npm-registry.ts";
import { startReceiver } from "../support/receiver.ts";
import { importBundle } from "./import-bundle.ts";
import { rejection } from "./rejection.ts";

const PACKAGES: Published[] = [
  ...["1.0.0", "1.4.0", "2.0.0", "3.0.0"].map(version => ({
    manifest: { name: "moves-on", version, main: "index.js" },
    files: { "index.js": `module.exports = "${version}";` },
  })),
  {
    manifest: { name: "climbs-by-folder", version: "1.0.0", main: "lib/main.js" },
    files: {
      "lib/main.js": `exports.name = "main";`,
      "test/index.js": `module.exports = require("../").name;`,
    },
  },
  {
    manifest: { name: "imports-its-data", version: "1.0.0", type: "module", main: "index.js" },
    files: {
      "index.js": `import old from "./a.json" assert { type: "json" };
import now from "./b.json" with { type: "json" }; export default [old.a, now.b];`,
      "a.json": `{"a": 1}`,
      "b.json": `{"b": 2}`,
    },
  },
  {
    manifest: { name: "requires-beside", version: "1.0.0", main: "lib/index.js" },
    files: {
      "lib/index.js": `const path = require("path");
module.exports = [require(__dirname + "/words.js"), require(path.join(__dirname, "more", "more.js")), require(path.join(__dirname, "../top"))];`,
      "lib/words.js": `module.exports = "words";`,
      "lib/more/more.js": `module.exports = "more";`,
      "top.js": `module.exports = "top";`,
    },
  },
  {
    manifest: { name: "asks-who-it-is", version: "1.0.0", main: "index.js" },
    files: {
      "index.js": `if (!module.parent) throw new Error("runs as a program"); module.exports = "a part";`,
    },
  },
  {
    manifest: {
      name: "makes-its-require",
      version: "1.0.0",
      type: "module",
      main: "index.js",
      dependencies: { "moves-on": "3.0.0" },
    },
    files: {
      "index.js": `import Module, { createRequire, isBuiltin } from "node:module";
import path from "node:path";
import { extra } from "./chunks/extra.js";
const require = createRequire(import.meta.url);
const { words } = require("./data.json");
const load = Module.createRequire(path.dirname(import.meta.url));
export default () => [words, require("moves-on"), load("./old.cjs"), extra, require("node:url") !== undefined, isBuiltin("fs")];`,
      "data.json": `\uFEFF{"words": "of JSON"}`,
      "old.cjs": `const create = require("module").createRequire;
module.exports = "old" + create(__filename)("./data.json").words.length;`,
      "chunks/extra.js": `import { createRequire as madeByBundler } from "module";
const __require = (made => name => made(name))(madeByBundler(import.meta.url));
let lacking;
try { __require("is-not-installed"); } catch (error) { lacking = error.code; }
export const extra = [__require("../more").more, lacking];`,
      "more.js": `export const more = "more";`,
    },
  },
  {
    manifest: {
      name: "needs-what-is-gone",
      version: "1.0.0",
      main: "index.js",
      dependencies: { "moves-on": "^9.0.0" },
    },
    files: { "index.js": "module.exports = 1;" },
  },
];

describe("npm packages as components find them", () => {
  let registry: NpmRegistry;
  let folder: string;
  const options = () => ({ cacheDir: registry.cacheDir, npmEnvironment: registry.environment });
  const imported = async (code: string) =>
    (await importBundle((await bundleComponent(fromCode(code), options())).code)) as Record<string, unknown>;

  before(async () => {
    registry = await startNpmRegistry(PACKAGES);
    folder = await mkdtemp(join(tmpdir(), "headwater-quirks-"));
  });
  after(async () => {
    await registry.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("may require a folder above by its path with a slash at the end", async () => {
    expect(
      await imported(`import a from "climbs-by-folder/test/index.js"; export default { a };`),
    ).to.deep.equal({ a: "main" });
  });

  it("may import their own JSON with either word for attributes", async () => {
    expect(await imported(`import a from "imports-its-data"; export default { a };`)).to.deep.equal({
      a: [1, 2],
    });
  });

  it("may require the files beside them by __dirname", async () => {
    expect(await imported(`import a from "requires-beside"; export default { a };`)).to.deep.equal({
      a: ["words", "more", "top"],
    });
  });

  it("may require JSON, code and packages with a require that they make themselves", async () => {
    const code = `import found from "makes-its-require"; export default { a: found() };`;
    expect(await imported(code)).to.deep.equal({
      a: ["of JSON", "3.0.0", "old7", ["more", "MODULE_NOT_FOUND"], true, true],
    });
  });

  it("see a parent, and so don't run as a program", async () => {
    expect(await imported(`import a from "asks-who-it-is"; export default { a };`)).to.deep.equal({
      a: "a part",
    });
  });

  it("may be required by the component with a require that it makes itself", async () => {
    const code = `import { createRequire } from "module";
const require = createRequire(import.meta.url);
export default { a: require("moves-on@1.0.0"), b: typeof require("fs").readFileSync };`;
    expect(await imported(code)).to.deep.equal({ a: "1.0.0", b: "function" });
  });

  it("are rejected with the dependency's name if that is what does not exist", async () => {
    const code = `import a from "needs-what-is-gone"; export default { a };`;
    const { message } = await rejection(bundleComponent(fromCode(code), options()));
    expect(message).to.match(
      /"needs-what-is-gone".*: its dependency moves-on@\^9\.0\.0: the version does not exist$/,
    );
  });

  describe("without a version in the import", () => {
    const CODE = `import version from "moves-on"; export default { name: "x", version };`;
    const OWN = `import version from "moves-on@1.0.0"; export default { name: "x", version };`;

    /** Returns the version that an app's component is bundled with, whose folders have these files. */
    async function versionWith(files: Record<string, string>, code = CODE): Promise<unknown> {
      const app = await mkdtemp(join(folder, "app-"));
      const entry = join(app, "components", "app", "sources", "new", "new.mjs");
      for (const [path, text] of Object.entries({ ...files, "components/app/sources/new/new.mjs": code })) {
        await mkdir(dirname(join(app, path)), { recursive: true });
        await writeFile(join(app, path), text);
      }
      const bundled = await bundleComponent(fromFile(entry), options());
      return (await importBundle(bundled.code)).version;
    }
    const asking = (range: string, section = "dependencies") =>
      JSON.stringify({ [section]: { "moves-on": range } });

    const APP = "components/app/package.json";
    const cases: [string, Record<string, string>, string][] = [
      [
        "have the versions of the nearest package.json above the file",
        { [APP]: asking("^1.0.0"), "package.json": asking("3.0.0") },
        "1.4.0",
      ],
      ["may be alternatives there", { [APP]: asking("^1.0.0 || >=2 <3") }, "2.0.0"],
      ["may be a peer there", { [APP]: asking("~1.0.0", "peerDependencies") }, "1.0.0"],
      [
        "are the newest if that file does not name them",
        { [APP]: "{}", "package.json": asking("1.0.0") },
        "3.0.0",
      ],
      ["are the newest if it names no version of a registry", { [APP]: asking("workspace:*") }, "3.0.0"],
      ["are the newest if it names a git address", { [APP]: asking("github:a/b") }, "3.0.0"],
      ["are the newest if it can't be read", { [APP]: "{", "package.json": "[]" }, "3.0.0"],
    ];
    for (const [what, files, version] of cases) {
      it(what, async () => {
        expect(await versionWith({ "package.json": "{}", ...files })).to.equal(version);
      });
    }

    it("have the versions of the nearest package.json above its address, too", async () => {
      const at = (path: string) => `/o/r/main/${path}`;
      const files: Record<string, string> = {
        [at("components/app/sources/new/new.mjs")]: CODE,
        [at("components/app/package.json")]: asking("^1.0.0"),
        [at("components/page/sources/new/new.mjs")]: CODE,
        [at("package.json")]: asking("2.0.0"),
        [at("components/alone/new.mjs")]: CODE,
      };
      const site = await startReceiver(({ path }) => {
        // Some sites have a page for everything that is not there.
        const isPage = path === at("components/page/package.json");
        if (isPage) return { status: 200, headers: { "content-type": "text/html" }, body: "<html>" };
        return path in files ? { status: 200, body: files[path] ?? "" } : 404;
      });
      const egress = createEgress({ allow: ["127.0.0.0/8"], blockedHosts: [], connectTimeoutMs: 10_000 });
      const origin = new URL(site.url).origin;
      const versionAt = async (path: string) => {
        const bundled = await bundleComponent(fromUrl(origin + at(path), egress), options());
        return (await importBundle(bundled.code)).version;
      };
      try {
        expect(await versionAt("components/app/sources/new/new.mjs")).to.equal("1.4.0");
        expect(await versionAt("components/page/sources/new/new.mjs")).to.equal("2.0.0");
        expect(await versionAt("components/alone/new.mjs")).to.equal("2.0.0");
        delete files[at("package.json")];
        expect(await versionAt("components/alone/new.mjs"), "the newest").to.equal("3.0.0");
      } finally {
        await egress.close();
        await site.close();
      }
    });

    it("do not change what an import says itself", async () => {
      expect(await versionWith({ [APP]: asking("^2.0.0") }, OWN)).to.equal("1.0.0");
    });
  });
});
