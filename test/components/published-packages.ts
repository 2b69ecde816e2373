import type { Published } from "../support/npm-registry.ts";

const simple = (name: string, version: string, code: string, more: object = {}): Published => ({
  manifest: { name, version, main: "index.js", ...more },
  files: { "index.js": code },
});

const outside = (name: string, spec: string) =>
  simple(name, "1.0.0", "module.exports = 1;", { dependencies: { strange: spec } });

export const PACKAGES: Published[] = [
  simple("@acme/versions", "0.20.0", `module.exports = { version: "0.20.0" };`),
  simple("@acme/versions", "1.4.0", `module.exports = { version: "1.4.0" };`),
  simple("@acme/versions", "2.0.0", `module.exports = { version: "2.0.0" };`),
  {
    manifest: {
      name: "dual",
      version: "1.0.0",
      type: "module",
      exports: {
        ".": { browser: "./browser.js", import: "./esm.js", require: "./cjs.cjs" },
        "./sub/*": "./lib/*.js",
        "./data.json": "./data.json",
      },
      imports: { "#inner": "./lib/inner.js" },
      dependencies: { "@acme/versions": "^1.0.0" },
    },
    files: {
      "esm.js": `import inner from "#inner"; import v from "@acme/versions"; import d from "./data.json"; export default { inner, kind: "esm", v: v.version, d: d.d };`,
      "cjs.cjs": `module.exports = { kind: "cjs", v: require("@acme/versions").version };`,
      "lib/inner.js": `export default "inner";`,
      "lib/deep.js": `export const deep = "deep";`,
      "data.json": `{"d": 7}`,
    },
  },
  simple(
    "optional",
    "1.0.0",
    `let x; try { x = require("not-installed"); } catch (e) { x = e.code; } module.exports = { x };`,
  ),
  simple(
    "compiled",
    "1.0.0",
    `exports.__esModule = true; exports.default = () => "called"; exports.named = 1;`,
  ),
  simple("scripted", "1.0.0", "module.exports = 1;", {
    scripts: { install: "touch ../../ran", preinstall: "touch ../../ran", postinstall: "touch ../../ran" },
  }),
  simple("climber", "1.0.0", `module.exports = require("../../package.json");`),
  simple("climber-far", "1.0.0", `module.exports = require("../../../../../../../../etc/hostname");`),
  {
    manifest: { name: "climber-main", version: "1.0.0", main: "../../../../../../../../etc/hostname" },
    files: {},
  },
  simple("absolute", "1.0.0", `import x from "/etc/hostname"; export default x;`),
  simple("globs", "1.0.0", `module.exports = x => [require("../" + x), import("./" + x)];`),
  {
    manifest: { name: "linker", version: "1.0.0", main: "index.js" },
    files: { "index.js": "->/etc/hostname" },
  },
  {
    manifest: { name: "native", version: "1.0.0", main: "index.js" },
    files: {
      "index.js": `module.exports = require("./build/addon.node");`,
      "build/addon.node": "machine code",
    },
  },
  simple("heavy", "1.0.0", `module.exports = ${JSON.stringify("x".repeat(400_000))};`),
  outside("by-file", "file:../../../../../../etc"),
  outside("by-git", "git+ssh://git@127.0.0.1/x/y.git"),
  outside("by-address", "http://127.0.0.1:1/x.tgz"),
];
