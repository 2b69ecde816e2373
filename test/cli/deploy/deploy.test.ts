import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { codeAt } from "../../../src/cli/deploy/deploy.ts";
import { fromFiles } from "../../../src/components/given-files.ts";
import { fromFile } from "../../../src/components/load-modules.ts";
import { readModuleGraph } from "../../../src/components/module-graph.ts";
import type { GivenFiles } from "../../../src/components/read-files.ts";

const MANIFEST = (dependencies: object) =>
  JSON.stringify({ name: "secret-name", private: true, dependencies });

/** A project as people have them, by path below a folder of its own. */
const PROJECT: Record<string, string> = {
  "package.json": MANIFEST({ axios: "^1.0.0", lodash: "4.17.21" }),
  "lib/word.mjs": `import axios from "axios"; export const word = "imported";`,
  "lib/inner/package.json": MANIFEST({}),
  "lib/inner/deep.mjs": `import axios from "axios"; import data from "./data.json"; export const deep = data;`,
  "lib/inner/data.json": `{ "n": 1 }`,
  "components/a/main.mjs": `import { word } from "../../lib/word.mjs"; import { deep } from "../../lib/inner/deep"; export default { word, deep };`,
  "components/a/beside.ts": `import { a } from "./part%25.js"; import "./ü b.mjs"; export default a as number;`,
  "components/a/part%.js": `export const a = 1;`,
  "components/a/ü b.mjs": `export {};`,
  "components/a/query.mjs": `import "./plain.mjs?x=1"; export default {};`,
  "components/a/plain.mjs": `export {};`,
  "components/a/reads.mjs": `import manifest from "../../package.json"; import "lodash"; export default manifest;`,
  "alone/one.mjs": `export default { name: "One" };`,
  "alone/package.json": "{}",
  "pinned.mjs": `import "lodash"; export default {};`,
};

describe("the code that the command line sends", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "headwater-code-"));
    for (const [path, text] of Object.entries(PROJECT)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  for (const path of [
    ...[
      "components/a/main.mjs",
      "components/a/beside.ts",
      "components/a/query.mjs",
      "components/a/reads.mjs",
    ],
    "pinned.mjs",
  ]) {
    it(`of ${path} is the same component to the server, of plain paths`, async () => {
      const given = (await codeAt(join(folder, path))) as GivenFiles;
      const [sent, local] = await Promise.all([
        readModuleGraph(fromFiles(given)),
        readModuleGraph(fromFile(join(folder, path))),
      ]);
      expect(sent.hash).to.equal(local.hash);
      expect([...sent.modules.keys()]).to.deep.equal([...local.modules.keys()]);
      expect(sent.ranges).to.deep.equal(local.ranges);
      expect(Object.keys(given.files).join()).not.to.match(/\.\.|\\|^\//);
    });
  }

  it("has no more of a package.json than what is imported, and no path above what is reached", async () => {
    const { files, entry } = (await codeAt(join(folder, "components/a/main.mjs"))) as GivenFiles;
    expect(entry).to.equal("components/a/main.mjs");
    expect(JSON.stringify(files)).not.to.match(/secret-name|lodash/);
    expect(JSON.parse(files["lib/package.json"] ?? "")).to.deep.equal({ dependencies: { axios: "^1.0.0" } });
  });

  it("is one text for a file that imports no other, and an address for an address", async () => {
    expect(await codeAt(join(folder, "alone/one.mjs"))).to.deep.equal({
      component_code: PROJECT["alone/one.mjs"],
    });
    const url = "https://components.invalid/a.mjs";
    expect(await codeAt(url)).to.deep.equal({ component_url: url });
  });
});
