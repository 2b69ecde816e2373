// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these strings are code that runs in the sandbox
import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { bundleOf, running } from "../sandbox/sandbox-fixture.ts";
import { expectDenied, type Lab, openLab, resultOf } from "./lab.ts";

describe("an escape to files", () => {
  let lab: Lab;

  before(async () => {
    lab = await openLab();
  });
  after(() => lab.close());
  afterEach(() => lab.expectUnharmed());

  it("is not possible, while the private folder can be used", async () => {
    const own = await lab.attempt(
      `fs.writeFileSync("/tmp/a", "mine"); return fs.readFileSync("/tmp/a", "utf8")`,
      TO_THE_LIMIT,
    );
    expect(resultOf(own)).to.equal("mine");
    for (const [name, code] of Object.entries(ATTEMPTS)) expectDenied(await lab.attempt(code), name);
    const prelude = await readFile(join(lab.hostFolder, "prelude.js"), "utf8");
    expect(prelude).to.not.contain("got-in-here");
    for (const path of ["/var/tmp/headwater-escape", join(lab.neighbourWorkspace, "files/escape")]) {
      expect(await access(path).catch(error => error.code), path).to.equal("ENOENT");
    }
  });

  for (const specifier of ["file:///etc/passwd", "/etc/hostname", "../../import-map.json", "./files/a.mjs"]) {
    it(`is not possible by importing ${specifier}`, async () => {
      const dynamic = await lab.attack(
        running(`this.$emit(await import(${JSON.stringify(specifier)}, { with: { type: "json" } }))`),
      );
      expectDenied(dynamic, "dynamic import");
      const asStatic = bundleOf(
        `import * as got from ${JSON.stringify(specifier)}; export default { name: "T", version: "1", run() { this.$emit(got); } };`,
      );
      expectDenied(await lab.attack(asStatic), "static import");
    });
  }

  it("ends a component that fills the folder with many small files, or one huge one @long", async () => {
    const many = await lab.attempt(
      `for (let i = 0; ; i++) { fs.writeFileSync("/tmp/f" + i, "x"); if (i % 100 === 0) await new Promise(r => setTimeout(r, 5)); }`,
      TO_THE_LIMIT,
    );
    expect(many.error?.message).to.contain("disk limit");
    const huge = await lab.attempt(
      `const part = Buffer.alloc(8e6, 1); for (;;) fs.appendFileSync("/tmp/huge", part);`,
      TO_THE_LIMIT,
    );
    expect(huge.error?.message).to.match(/size limit of a file|disk limit|EFBIG|too large/);
  });
});

/** So long that a busy machine reaches the limit of the disk first; other attempts may end by their time, too. Milliseconds. */
const TO_THE_LIMIT = { wallMs: 60_000 };

const ATTEMPTS: Record<string, string> = {
  "the system's users": `return fs.readFileSync("/etc/passwd", "utf8")`,
  "the same through a promise": `return await fsp.readFile("/etc/shadow", "utf8")`,
  "the same through Deno": `return Deno.readTextFileSync("/etc/passwd")`,
  "the same through a URL object": `return fs.readFileSync(new URL("file:///etc/passwd"), "utf8")`,
  "the same through a path of bytes": `return fs.readFileSync(Buffer.from("/etc/passwd"), "utf8")`,
  "the same through fetch": `return await (await fetch("file:///etc/passwd")).text()`,
  "the same through a stream": `return await new Promise((d, f) => fs.createReadStream("/etc/passwd").on("data", d).on("error", f))`,
  "a climb out of /tmp": `return fs.readFileSync("/tmp/../../../../../etc/passwd", "utf8")`,
  "a climb out of the working folder": `return fs.readdirSync("../..")`,
  "its own environment in /proc": `return fs.readFileSync("/proc/self/environ", "utf8")`,
  "its own arguments in /proc": `return fs.readFileSync("/proc/self/cmdline", "utf8")`,
  "its own memory": `return fs.openSync("/proc/self/mem", "r+")`,
  "the worker's environment": "return fs.readFileSync(`/proc/${process.ppid}/environ`, 'utf8')",
  "the neighbour's memory": "return fs.openSync(`/proc/${at.neighbourPid}/mem`, 'r+')",
  "the neighbour's code": "return Deno.readTextFileSync(`${at.neighbourWorkspace}/component.mjs`)",
  "the neighbour's files": "return [...Deno.readDirSync(`${at.neighbourWorkspace}/files`)]",
  "a file for the neighbour": "return Deno.writeTextFileSync(`${at.neighbourWorkspace}/files/escape`, 'x')",
  "the host's folder": "return [...Deno.readDirSync(at.hostFolder)]",
  "the prelude's code":
    "return Deno.writeTextFileSync(`${at.hostFolder}/prelude.js`, 'got-in-here', { append: true })",
  "the code cache":
    "return Deno.openSync(`${at.hostFolder}/deno/v8_code_cache_v2`, { write: true }).constructor.name",
  "its own code": `return fs.writeFileSync("../component.mjs", "x")`,
  "a file elsewhere": `return fs.writeFileSync("/var/tmp/headwater-escape", "x")`,
  "a file elsewhere by renaming": `fs.writeFileSync("r", "x"); return fs.renameSync("r", "/var/tmp/headwater-escape")`,
  "a file elsewhere by copying": `fs.writeFileSync("c", "x"); return fs.cpSync("c", "/var/tmp/headwater-escape")`,
  "a temp file of Deno's elsewhere": `return Deno.makeTempFileSync({ dir: "/var/tmp" })`,
  "a symbolic link to a file": `fs.symlinkSync("/etc/passwd", "l1"); return fs.readFileSync("l1", "utf8")`,
  "a symbolic link to a folder": `fs.symlinkSync("/", "l2", "dir"); return fs.readdirSync("l2/etc")`,
  "a symbolic link to write through": `fs.symlinkSync("/var/tmp/headwater-escape", "l3"); return fs.writeFileSync("l3", "x")`,
  "a link made after the check": `fs.mkdirSync("d"); fs.rmdirSync("d"); fs.symlinkSync("/etc", "d"); return fs.readFileSync("d/passwd", "utf8")`,
  "a hard link": `return fs.linkSync("/etc/passwd", "hard")`,
  "a device": `return fs.openSync("/dev/mem", "r")`,
  "the descriptors of /proc": `return fs.readdirSync("/proc/self/fd")`,
  "a watch on the root": `return Deno.watchFs("/").constructor.name`,
  "another working folder": `process.chdir("/etc"); return fs.readFileSync("passwd", "utf8")`,
  "a heap snapshot elsewhere": `return v8.writeHeapSnapshot("/var/tmp/headwater-escape")`,
  "a database elsewhere": `return new (process.getBuiltinModule("node:sqlite").DatabaseSync)("/var/tmp/headwater-escape").constructor.name`,
  "a key-value store": `return (await Deno.openKv("/var/tmp/headwater-escape")).constructor.name`,
  "a module of the machine": `return nodeModule.createRequire("/work/")("/etc/passwd")`,
};
