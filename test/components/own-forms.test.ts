import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { bundleComponent } from "../../src/components/bundle.ts";
import { fromCode, fromFile, type ModuleLoader } from "../../src/components/load-modules.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { bundleOf, openTestSandboxes, RUN } from "../sandbox/sandbox-fixture.ts";
import { rejection } from "./rejection.ts";

const DATA = '{ "word": "from a file" }';
const component = (before: string, emitted: string) =>
  `${before}\nexport default { name: "x", version: "0.0.1", run() { this.$emit(${emitted}); } };\n`;
const DECORATED = component(
  "const twice = (method, context) => function () { return [method.call(this), context.name]; };\nclass Words { @twice word() { return 'a'; } }",
  "new Words().word()",
);
const ELEMENT = component(
  "const React = { createElement: (name, given, ...inside) => [name, given, inside] };",
  '<p lang="de">{1 + 1}</p>',
);
const TYPED_ELEMENT = ELEMENT.replace("{1 + 1}", "{(1 + 1) as number}");

/** Forms of a component's own files, which are lowered to what deno runs. */
const FORMS: [form: string, files: Record<string, string>, event: unknown][] = [
  ["decorators in JavaScript", { "entry.mjs": DECORATED }, ["a", "word"]],
  [
    "decorators in TypeScript",
    {
      "entry.ts": DECORATED.replace("(method, context)", "(method: any, context: any)").replace(
        "function ()",
        "function (this: any)",
      ),
    },
    ["a", "word"],
  ],
  ["TSX", { "entry.tsx": TYPED_ELEMENT }, ["p", { lang: "de" }, [2]]],
  ["JSX", { "entry.jsx": ELEMENT }, ["p", { lang: "de" }, [2]]],
  [
    "an import of a TSX file without its extension",
    {
      "entry.ts": component('import { found } from "./view";', "found"),
      "view.tsx": "export const found = 'a view';",
    },
    "a view",
  ],
  [
    'assert { type: "json" }',
    {
      "entry.mjs": component('import data from "./data.json" assert { type: "json" };', "data"),
      "data.json": DATA,
    },
    { word: "from a file" },
  ],
  [
    'with { type: "json" }',
    {
      "entry.mjs": component('import data from "./data.json" with { type: "json" };', "data"),
      "data.json": DATA,
    },
    { word: "from a file" },
  ],
  [
    "require of a JSON file without its extension",
    {
      "entry.js":
        'const data = require("./data");\nmodule.exports = { name: "x", version: "0.0.1", run() { this.$emit(data); } };',
      "data.json": DATA,
    },
    { word: "from a file" },
  ],
  [
    "node:sqlite",
    {
      "entry.mjs": component(
        'import { DatabaseSync } from "node:sqlite";',
        'new DatabaseSync(":memory:").prepare("select 1 + 1 as two").get()',
      ),
    },
    { two: 2 },
  ],
];

describe("forms of a component's own files", () => {
  let folder: string;
  let sandboxes: Sandboxes;
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "forms-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function emitted(loader: ModuleLoader): Promise<unknown> {
    const { code } = await bundleComponent(loader, { cacheDir: folder });
    const { emits, error } = await sandboxes.call(code, { ...bundleOf(code), hash: code }, RUN);
    expect(error?.stack).to.equal(undefined);
    return emits[0]?.event;
  }

  for (const [form, files, event] of FORMS) {
    it(`run: ${form}`, async () => {
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
      expect(await emitted(fromFile(join(folder, Object.keys(files)[0] ?? "")))).to.deep.equal(event);
    });
  }

  it("run when the code has no file name that says which form it is", async () => {
    expect(await emitted(fromCode(DECORATED))).to.deep.equal(["a", "word"]);
    expect(await emitted(fromCode(TYPED_ELEMENT))).to.deep.equal(["p", { lang: "de" }, [2]]);
  });

  it("are named with their place if they can't be read", async () => {
    const { message } = await rejection(
      bundleComponent(fromCode(component("", "1 +")), { cacheDir: folder }),
    );
    expect(message).to.match(/^component_code: line 2, column \d+: /);
    const none = await rejection(
      bundleComponent(fromCode(component('import x from "node:none";', "x")), { cacheDir: folder }),
    );
    expect(none.message).to.include("no such built-in module").and.include("line 1");
  });
});
