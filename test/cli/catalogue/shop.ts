import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A component whose run emits once. */
export const working = (key: string, { props = "", run = "this.$emit({ n: 1 });" } = {}): string =>
  `export default { key: "${key}", name: "${key}", version: "0.0.1", type: "source",
    props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } }, ${props} },
    async run(event) { ${run} } };\n`;

/** A component whose run never ends by itself. */
export const endless = (key: string): string =>
  working(key, { run: "await new Promise(() => setInterval(() => {}, 1000));" });

/** A folder of components, of which some work and each other one fails in a way of its own. */
export const SHOP: Record<string, string> = {
  "package.json": '{ "name": "shop", "version": "1.0.0" }\n',
  "shop.app.mjs": `export default { type: "app", app: "shop", propDefinitions: { who: { type: "string" } },
    methods: { hello() { return "hello " + this.$auth.token.trim(); } } };\n`,
  "common/word.mjs": 'export const name = "word";\nexport default name;\n',
  "sources/ticks.mjs": `import word from "../common/word.mjs";\n${working("shop-ticks", { run: "this.$emit({ word });" })}`,
  "sources/hook.ts": `export default { key: "shop-hook", name: "Hook", version: "0.0.1", props: { http: "$.interface.http" },
    run(event: { method: string }) { if (event.method !== "POST") throw new Error(event.method); this.$emit(event); } };\n`,
  "sources/syntax.mjs": `${working("shop-syntax")}const = 1;\n`,
  "sources/no-package.mjs": `import none from "headwater-no-such-package";\n${working("shop-no-package", { run: "none();" })}`,
  "sources/needs.mjs": `import shop from "../shop.app.mjs";\n${working("shop-needs", { props: "shop, city: 'string'" })}`,
  "sources/account.mjs": `import shop from "../shop.app.mjs";\n${working("shop-account", { props: "shop", run: "this.$emit(this.shop.hello());" })}`,
  "sources/no-account.mjs": `import shop from "../shop.app.mjs";\n${working("shop-no-account", { props: "shop" })}`,
  "sources/throws.mjs": working("shop-throws", { run: 'throw new Error("no such shop: " + 17);' }),
  "sources/also-throws.mjs": working("shop-also-throws", { run: 'throw new Error("no such shop: " + 18);' }),
  "sources/given.mjs": working("shop-given", {
    props: "who: 'string'",
    run: "if (this.who !== 'anna') throw new Error(this.who);",
  }),
  "actions/note.mjs": `export default { key: "shop-note", name: "Note", version: "0.0.1", type: "action", props: { text: "string" },
    run({ $ }) { $.export("text", this.text); } };\n`,
  "actions/fails.mjs": `export default { key: "shop-fails", name: "Fails", version: "0.0.1", type: "action", props: {},
    run() { throw new Error("the shop is closed"); } };\n`,
  "node_modules/other/index.js": working("shop-of-a-package"),
  ".hidden/index.mjs": working("shop-hidden"),
};

/** Values for two of them: one by its key, one by its path. */
export const SHOP_PROPS = { "shop-given": { who: "anna" }, "actions/note.mjs": { text: "hello" } };

/** Writes files by their paths below a folder. */
export async function writeFiles(folder: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}
