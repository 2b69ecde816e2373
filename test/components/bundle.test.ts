import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { bundleComponent } from "../../src/components/bundle.ts";
import { fromCode } from "../../src/components/load-modules.ts";
import { importBundle, mapOf, originOf } from "./import-bundle.ts";
import { rejection } from "./rejection.ts";

const bundle = (code: string) => bundleComponent(fromCode(code), { cacheDir: tmpdir() });
const component = `export default { name: "x", version: "1" };`;

describe("bundling a component", () => {
  it("exports the component as default, from ESM", async () => {
    const { code } = await bundle(
      `import { createHash } from "crypto"; export default { name: "x", createHash };`,
    );
    expect((await importBundle(code)).createHash).to.equal(createHash);
  });

  it("exports the component as default, from CommonJS", async () => {
    const { code } = await bundle(
      `const { createHash } = require("node:crypto"); module.exports = { name: "x", createHash };`,
    );
    expect((await importBundle(code)).createHash).to.equal(createHash);
  });

  it("exports the component as default, from TypeScript without its type imports", async () => {
    const { code } = await bundle(
      `import type { A } from "./nowhere"; enum E { A = 1 } export default { name: "x" as string, e: E.A satisfies number };`,
    );
    expect(await importBundle(code)).to.deep.equal({ name: "x", e: 1 });
  });

  it("unwraps the default of CommonJS that was compiled from ESM", async () => {
    const { code } = await bundle(
      `Object.defineProperty(exports, "__esModule", { value: true }); exports.default = { name: "compiled" };`,
    );
    expect(await importBundle(code)).to.deep.equal({ name: "compiled" });
  });

  it("leaves names alone that the bundle's own banner uses", async () => {
    const { code } = await bundle(
      `import { createRequire } from "module"; const require = createRequire("/x.js"); const __dirname = "mine";
       export default { name: __dirname, sep: require("path").sep };`,
    );
    expect(await importBundle(code)).to.deep.equal({ name: "mine", sep: "/" });
  });

  it("returns the SHA-256 of the code and lists its only file", async () => {
    const { hash, modules, packages, source } = await bundle(component);
    expect(hash).to.equal(createHash("sha256").update(component).digest("hex"));
    expect({ modules, packages, source }).to.deep.equal({
      modules: ["component.js"],
      packages: {},
      source: component,
    });
  });

  it("has a source map to the component's own lines", async () => {
    const { code } = await bundle(
      `// one\n// two\nexport default {\n  run() {\n    throw new Error("boom");\n  },\n};\n`,
    );
    expect(originOf(code, "new Error")).to.deep.equal({ file: "component.js", line: 5 });
  });

  it("has a source map to the lines of TypeScript code", async () => {
    const { code } = await bundle(
      `interface A {\n  a: string;\n}\nexport default {\n  run(a: A) {\n    throw new Error(a.a);\n  },\n};`,
    );
    expect(originOf(code, "new Error")).to.deep.equal({ file: "component.js", line: 6 });
  });

  describe("rejects, and names component_code:", () => {
    const rejected: [string, string, RegExp][] = [
      ["a syntax error, with line and column", "export default {\n  a: 1,,\n};", /line 2, column 8/],
      ["a syntax error in TypeScript", "const a: number = ;\nexport default {};", /line 1, column 19/],
      [
        "a constant that is assigned to",
        "const a = 1;\n\nexport default { run() { a = 2; } };",
        /line 3, column 26: Cannot assign/,
      ],
      ["code without a default export", "export const a = 1;", /no default export/],
      ["a relative import", `import a from "./a.mjs"; ${component}`, /"\.\/a\.mjs".*component_url/],
      ["an absolute path", `import a from "/etc/passwd"; ${component}`, /"\/etc\/passwd"/],
      ["a file: URL", `import a from "file:///etc/passwd"; ${component}`, /"file:/],
      ["a data: URL", `import a from "data:text/javascript,1"; ${component}`, /"data:/],
      ["an http: URL", `import a from "https://example.com/a.js"; ${component}`, /"https:/],
      ["a name of an import map", `import a from "#a"; ${component}`, /"#a"/],
      ["a required absolute path", `require("/etc/passwd"); module.exports = {};`, /"\/etc\/passwd"/],
      ["a git address as the version", `import a from "axios@github:a/b"; ${component}`, /"axios@github/],
      ["a file as the version", `import a from "axios@x.tgz"; ${component}`, /"axios@x\.tgz"/],
      ["an option of npm", `import a from "--registry"; ${component}`, /"--registry"/],
      ["a path out of a package", `import a from "axios/../../x"; ${component}`, /plain path/],
      [
        "a built-in module that does not exist",
        `import a from "node:nothing"; ${component}`,
        /no such built-in/,
      ],
      ["more than 1 MB", `/*${"x".repeat(1024 * 1024)}*/${component}`, /exceeds 1 MB/],
    ];
    for (const [what, code, message] of rejected) {
      it(what, async () => {
        const error = await rejection(bundle(code));
        expect(error.code).to.equal("invalid");
        expect(error.message)
          .to.match(/^component_code: /)
          .and.match(message);
        expect(error.fields.map(({ in: where, path }) => [where, path])).to.deep.equal([
          ["body", "component_code"],
        ]);
      });
    }
  });

  describe("reads no file of the server:", () => {
    const patterns = [
      "export default { a: x => import('./' + x + '.ts') };",
      "export default { a: x => import(`../src/components/$" + "{x}.ts`) };",
      "export default { a: x => import(`$" + "{'./'}$" + "{x}`), b: x => import('' + ('./' + x)) };",
      "export default { a: x => import(x ? './' + x : '../' + x), b: x => import('./' + x, { with: { type: 'json' } }) };",
      "module.exports = { a: x => require('./' + x + '.json'), b: x => require(x ? './' + x : `../$" +
        "{x}`) };",
      "module.exports = { a: x => require /* c */ ( /* c */ './' + x + '.json'), b: x => r\\u0065quire('./' + x) };",
      "enum E { A = './', B = A + '../' } export default { a: (x: string) => import(E.B + x), b: x => require(E.A + x) };",
    ];
    for (const pattern of patterns) {
      it(`through a file pattern: ${pattern}`, async () => {
        const { code } = await bundle(pattern);
        expect(mapOf(code).sources).to.deep.equal(["own:component.js"]);
      });
    }

    it("through a source map comment", async () => {
      const lines = [
        `${component}`,
        "//# sourceMappingURL=file:///etc/hostname",
        "//@ sourceMappingURL=/etc/hostname",
      ];
      for (const line of lines.slice(1)) {
        const { code } = await bundle(`${component}\n${line}`);
        expect(mapOf(code).sources).to.deep.equal(["own:component.js"]);
      }
    });

    it("through an inline source map", async () => {
      const map = { version: 3, sources: ["file:///etc/hostname"], mappings: "AAAA" };
      const inline = Buffer.from(JSON.stringify(map)).toString("base64");
      const { code } = await bundle(
        `${component}\n//# sourceMappingURL=data:application/json;base64,${inline}`,
      );
      expect(mapOf(code))
        .to.deep.include({ sources: ["own:component.js"] })
        .and.not.have.property("sourcesContent");
    });
  });

  it("leaves methods and functions named require alone", async () => {
    const { code } = await bundle(
      `function require(a, b) { return a + b; } class A { require(a) { return a; } }
       export default { own: require(1, 2), method: new A().require("x" + 1), require(a) { return a; } };`,
    );
    expect(await importBundle(code)).to.deep.include({ own: 3, method: "x1" });
  });

  it("keeps the meaning of computed imports", async () => {
    const { code } = await bundle(
      `export default { load: x => import("node:" + x), asked: y => require("node:" + y) };`,
    );
    const { load, asked } = (await importBundle(code)) as unknown as {
      load: (name: string) => Promise<{ createHash: unknown }>;
      asked: (name: string) => { createHash: unknown };
    };
    expect((await load("crypto")).createHash).to.equal(createHash);
    expect(asked("crypto").createHash).to.equal(createHash);
  });

  it("survives code that crashes esbuild, without affecting other bundles @long", async () => {
    const script = fileURLToPath(new URL("nested-code.ts", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", script]);
    const { deep, others, again, modules } = JSON.parse(stdout);
    expect(deep).to.equal("fulfilled");
    expect(others).to.deep.equal(others.map(() => "fulfilled"));
    expect(again).to.match(/component_code: .*nested/);
    expect(modules).to.deep.equal(["component.js"]);
  });
});
