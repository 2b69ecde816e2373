import { spawnSync } from "node:child_process";
import { expect } from "chai";
import { ENUMERABLE, GLOBAL_DIFFERENCES, NODE_GLOBALS } from "../../src/sandbox/child/global-scope.ts";
import { denoEnvironment, findDeno } from "../../src/sandbox/deno-command.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { skipBecause } from "../support/skip.ts";
import { openTestSandboxes, RUN, running } from "./sandbox-fixture.ts";

/**
 * Code of a function that lists a global scope: its own names, with their types, and the names that its prototypes add, but for
 * those of objects.
 */
const LIST = `() => {
  const names = object => Object.getOwnPropertyNames(object).sort();
  const inherited = new Set();
  for (let next = Object.getPrototypeOf(globalThis); next !== Object.prototype; next = Object.getPrototypeOf(next)) {
    for (const name of names(next)) if (globalThis[name] !== undefined) inherited.add(name);
  }
  const listed = [];
  for (const name in globalThis) listed.push(name);
  return {
    types: Object.fromEntries(names(globalThis).map(name => [name, typeof globalThis[name]])),
    enumerable: [Object.keys(globalThis).sort(), listed.sort()],
    navigator: names(Object.getPrototypeOf(navigator)),
    tag: Object.prototype.toString.call(globalThis),
    proto: [typeof globalThis.__proto__, typeof ({}).__proto__],
    inherited: [...inherited],
  };
}`;

interface Scope {
  types: Record<string, string>;
  enumerable: string[][];
  navigator: string[];
  tag: string;
  proto: string[];
  inherited: string[];
}

/** What both have in common. */
const ALIKE = {
  enumerable: [[...ENUMERABLE].sort(), [...ENUMERABLE].sort()],
  tag: "[object global]",
  proto: ["object", "object"],
  inherited: ["constructor"],
};

describe("the global scope of a component", () => {
  let sandboxes: Sandboxes;
  let calls = 0;

  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());

  async function resultOf(body: string): Promise<unknown> {
    const { emits, error } = await sandboxes.call(`scope-${++calls}`, running(body), RUN);
    expect(error?.stack).to.equal(undefined);
    return emits[0]?.event;
  }

  it("has the names, types and prototypes of Node 24's, but for the differences that are listed", async () => {
    const { types, navigator, ...scope } = (await resultOf(`this.$emit((${LIST})())`)) as Scope;
    const expected = new Map(NODE_GLOBALS);
    for (const name of Object.keys(GLOBAL_DIFFERENCES)) {
      if (expected.delete(name)) expect(types, name).to.not.have.property(name);
      else expect(types[name], name).to.equal(name === "defineComponent" ? "function" : "undefined");
      delete types[name];
    }
    expect(types).to.deep.equal(Object.fromEntries(expected));
    expect(scope).to.deep.equal(ALIKE);
    expect(navigator.filter(name => !["constructor", "locks"].includes(name))).to.deep.equal([
      "hardwareConcurrency",
      "language",
      "languages",
      "platform",
      "userAgent",
    ]);
  });

  it("is compared with the names that Node 24 has", function () {
    if (!process.version.startsWith("v24.")) skipBecause(this, "it is about Node 24");
    // A module: in code of `-e`, the built-in modules and the variables of CommonJS are global, too.
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-"], {
      input: `console.log(JSON.stringify((${LIST})()))`,
      encoding: "utf8",
    });
    const { types, navigator: _, ...scope } = JSON.parse(stdout) as Scope;
    expect(types).to.deep.equal(Object.fromEntries(NODE_GLOBALS));
    expect(scope).to.deep.equal(ALIKE);
  });

  const GONE = [
    ...[
      "self",
      "window",
      "location",
      "caches",
      "name",
      "closed",
      "onload",
      "Deno",
      "prompt",
      "alert",
      "confirm",
    ],
    ...[
      "addEventListener",
      "dispatchEvent",
      "reportError",
      "localStorage",
      "Worker",
      "GPU",
      "OffscreenCanvas",
    ],
  ];
  it("lets code find out that it runs in Node, in each of the ways that libraries use", async () => {
    const found = await resultOf(`this.$emit([
      ${GONE.map(name => `typeof ${name}`).join(", ")},
      globalThis.Deno, Function("return this")().Deno, (0, eval)("typeof Deno"), process.versions.deno, navigator.gpu
    ].map(String).filter(one => one !== "undefined"))`);
    expect(found).to.deep.equal([]);
    expect(await resultOf(`this.$emit([navigator.userAgent, String(process)])`)).to.deep.equal([
      `Node.js/${await resultOf(`this.$emit(parseInt(process.versions.node))`)}`,
      "[object process]",
    ]);
  });

  it("does without them in deno's own modules: files, errors of all kinds, streams, timers", async () => {
    const done = await resultOf(`
      const fs = process.getBuiltinModule("node:fs");
      fs.mkdirSync("/tmp/a/b", { recursive: true });
      fs.writeFileSync("/tmp/a/b/c", "x");
      fs.cpSync("/tmp/a", "/tmp/d", { recursive: true });
      const seen = [fs.statSync("/tmp/d/b/c").size, fs.lstatSync("/tmp/a").isDirectory()];
      for (const path of ["/tmp/none", "/etc/shadow", "/tmp/a"]) try { fs.readFileSync(path); } catch (error) { seen.push(error.code); }
      fs.rmSync("/tmp/d", { recursive: true });
      seen.push(fs.existsSync("/tmp/d"), (await fs.promises.readdir("/tmp/a/b")).length);
      for await (const chunk of fs.createReadStream("/tmp/a/b/c")) seen.push(String(chunk));
      Object.freeze(Error);
      seen.push(fs.statSync("/tmp/a/b/c").size);
      this.$emit(seen);`);
    expect(done).to.deep.equal([1, true, "ENOENT", "EACCES", "EISDIR", false, 1, "x", 1]);
  });

  it("has no GPU and no drawing in native code behind the names that are gone", () => {
    const code = `console.log(String(await navigator.gpu?.requestAdapter() ?? null), typeof OffscreenCanvas);`;
    const { stdout } = spawnSync(findDeno(), ["eval", "--quiet", code], {
      env: denoEnvironment("/nonexistent"),
      encoding: "utf8",
    });
    expect(stdout.trim()).to.equal("null undefined");
  });
});
