import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { bundleComponent } from "../../src/components/bundle.ts";
import { fromFile } from "../../src/components/load-modules.ts";
import { type CallResult, withFrame } from "../../src/sandbox/protocol.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes, RUN } from "../sandbox/sandbox-fixture.ts";
import { fixturePackages } from "../support/fixture-packages.ts";
import { rejection } from "./rejection.ts";

const FILES: Record<string, string> = {
  "above.mjs": 'export const above = () => { throw new Error("from above"); };\n',
  "a/b/c/near by/é (1).mjs": 'export const odd = () => {\n  throw new Error("from an odd name");\n};\n',
  "a/b/c/entry.mjs": `import axios from "axios";
import { above } from "../../../above.mjs";
import { odd } from "./near by/é (1).mjs";
const calls = {
  above, odd,
  packaged: async () => { await axios.get("http://127.0.0.1:9/"); },
  logged: () => {
    try { odd(); } catch (error) { console.error(error); console.log(error.stack); console.trace("here"); }
    process.stderr.write(new Error("written").stack);
  },
  unhandled: async () => { Promise.reject(new Error("left over")); await new Promise(() => {}); },
  uncaught: () => new Promise(() => setTimeout(() => { throw new Error("too late"); })),
  denied: () => import(String("/etc/passwd.mjs")),
  gone: () => process.getBuiltinModule("fs").readFileSync("/tmp/none.txt"),
};
export default { name: "x", version: "0.0.1", run: event => calls[event]() };
`,
  "a/b/c/broken.mjs": 'import "../../syntax.mjs";\nexport default { name: "x", version: "0.0.1" };\n',
  "a/syntax.mjs": "\nconst = 1;\n",
  "a/b/c/throws.mjs":
    'import { above } from "../../../above.mjs";\nabove();\nexport default { name: "x", version: "0.0.1" };\n',
};

/** What names a place on this machine, or code that is not the author's. */
const OURS = /headwater-|prelude|ext:|node:internal|file:|component\.mjs|own:|allow-read/;

describe("places in errors and logs", () => {
  let folder: string;
  let sandboxes: Sandboxes;
  let code: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "places-"));
    for (const [path, text] of Object.entries(FILES)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    sandboxes = await openTestSandboxes();
    code = await bundled("entry.mjs");
  });
  after(async () => {
    await sandboxes?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function bundled(name: string): Promise<string> {
    return (await bundleComponent(fromFile(join(folder, "a/b/c", name)), await fixturePackages())).code;
  }

  async function run(event: string): Promise<CallResult> {
    const hash = createHash("sha256").update(code).digest("hex");
    const result = await sandboxes.call("places", { code, hash }, { ...RUN, event });
    expect(JSON.stringify([result.error, result.logs]))
      .not.to.match(OURS)
      .and.not.include(folder);
    return result;
  }

  const THROWN: [event: string, message: RegExp, stack: RegExp][] = [
    ["above", /^from above$/, / \(\.\.\/\.\.\/\.\.\/above\.mjs:1:\d+\)\n/],
    ["odd", /^from an odd name$/, / \(near by\/é \(1\)\.mjs:2:\d+\)\n/],
    ["packaged", /^connect EACCES 127\.0\.0\.1:9 /, / \(npm:axios\/[\w./]+\)\n[\s\S]* at .*entry\.mjs:6:\d+/],
    ["unhandled", /^left over$/, /entry\.mjs:11:\d+/],
    ["uncaught", /^too late$/, /entry\.mjs:12:\d+/],
    ["denied", /^"\/etc\/passwd\.mjs" is not with the component: /, /^\w+: "/],
    ["gone", /^ENOENT: no such file or directory, open '\/tmp\/none\.txt'$/, /entry\.mjs:14:\d+/],
  ];
  for (const [event, message, stack] of THROWN) {
    it(`are those that the author knows: ${event}`, async () => {
      const { error } = await run(event);
      expect(error?.message).to.match(message);
      expect(error?.stack, error?.stack).to.match(stack);
    });
  }

  it("are those that the author knows in what console and the process's streams print", async () => {
    const { logs, error } = await run("logged");
    expect(error).to.equal(undefined);
    const [thrown, stack, trace, written] = logs.map(({ message }) => message);
    for (const text of [thrown, stack])
      expect(text).to.match(/^Error: from an odd name\n +at odd \(near by\/é \(1\)\.mjs:2:\d+\)\n/);
    expect(trace).to.match(/^Trace: here\n +at .*entry\.mjs:8:\d+/);
    expect(written).to.match(/^Error: written\n +at .*entry\.mjs:9:\d+/);
  });

  it("are those that the author knows when the code can't be built or described", async () => {
    expect((await rejection(bundled("broken.mjs"))).message).to.match(
      /: \.\.\/\.\.\/syntax\.mjs: line 2, column 7: /,
    );
    const throws = { code: await bundled("throws.mjs"), hash: "throws" };
    const { message } = await rejection(sandboxes.describe(throws));
    expect(message)
      .to.match(/from above \(at \.\.\/\.\.\/\.\.\/above\.mjs:1:\d+\)$/)
      .and.not.match(OURS);
  });

  it("are the author's in a line, and not those of a package", () => {
    const stacks: [stack: string, place: string][] = [
      [
        "Error: x\n    at settle (npm:axios/lib/core/settle.js)\n    at async Object.deploy (acme.mjs:3:9)",
        "acme.mjs:3:9",
      ],
      ["Error: x\n    at async ../common/a b (1).mjs:3:9", "../common/a b (1).mjs:3:9"],
      ["Error: x\n    at new Promise (<anonymous>)\n    at near by/a.mjs:3:9", "near by/a.mjs:3:9"],
      [
        "Error: x\nCaused by: Error: y\n    at Axios.<computed> [as get] (npm:axios/index.js)\n    at f (a.ts:1:2)",
        "a.ts:1:2",
      ],
    ];
    for (const [stack, place] of stacks) expect(withFrame("x", stack)).to.equal(`x (at ${place})`);
    for (const none of [
      "Error: x",
      "Error: x\n    at f (npm:axios/index.js)\n    at g (node:fs:1:2)\n    at /x.js:1:2",
    ])
      expect(withFrame("x", none)).to.equal("x");
    const startedAt = performance.now();
    withFrame("x", `\n    at ${" (a:1:".repeat(3000)}\n${"    at a (".repeat(2000)}`);
    expect(performance.now() - startedAt).to.be.lessThan(500);
  });
});
