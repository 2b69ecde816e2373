import { readdir, readFile, readlink } from "node:fs/promises";
import { expect } from "chai";
import { running } from "../sandbox/sandbox-fixture.ts";
import { expectDenied, type Lab, openLab, resultOf } from "./lab.ts";

describe("an escape through processes", () => {
  let lab: Lab;

  before(async () => {
    lab = await openLab();
  });
  after(() => lab.close());
  afterEach(() => lab.expectUnharmed());

  it("can't start a program or native code, signal another process, or do in a thread what it can't do itself", async () => {
    for (const [name, code] of Object.entries(ATTEMPTS)) expectDenied(await lab.attempt(code), name);
  });

  for (const specifier of [
    "https://deno.land/x/mod.ts",
    "npm:left-pad",
    "jsr:@std/path",
    "node:inspector/promises-none",
  ]) {
    it(`can't load code from ${specifier}`, async () => {
      expectDenied(await lab.attack(running(`this.$emit(await import("${specifier}"))`)), specifier);
    });
  }

  it("can start threads, but they share its time and memory, and end with it", async () => {
    const start = (code: string) =>
      `for (let i = 0; i < 4; i++) new workers.Worker(${JSON.stringify(code)}, { eval: true });
       await new Promise(() => {});`;
    const endless = await lab.attempt(start("for (;;);"), { wallMs: 1500 });
    expect(endless.error?.code).to.be.oneOf(["Timeout", "Out of Memory"]);
    const hungry = await lab.attempt(start("const a = []; for (;;) a.push(Buffer.alloc(1e7, 1))"));
    expect(hungry.error?.code).to.equal("Out of Memory");
    expect(hungry.memoryBytes).to.be.below(1024 * 1024 * 1024);
  });

  it("can't learn about the worker from its environment, arguments or parent", async () => {
    const seen = resultOf(
      await lab.attempt(`return JSON.stringify([process.env, Deno.env.toObject(), process.argv, process.execPath, Deno.args,
        os.hostname(), os.userInfo(), os.networkInterfaces(), process.title, process.config])`),
    );
    for (const secret of [
      process.cwd(),
      process.env.PATH ?? "PATH",
      process.env.HOME ?? "HOME",
      lab.hostFolder,
    ]) {
      expect(seen).to.not.contain(`"${secret}"`);
    }
  });

  it("has no file descriptor of the worker, and only the necessary files in its workspace", async () => {
    const pid = Number(resultOf(await lab.attempt("return process.pid")));
    const privateFolder = await readlink(`/proc/${pid}/cwd`);
    const open = await Promise.all(
      (await readdir(`/proc/${pid}/fd`)).map(async fd => [
        fd,
        await readlink(`/proc/${pid}/fd/${fd}`).catch(() => ""),
      ]),
    );
    const foreign = open.filter(
      ([, target = ""]) =>
        !/^(socket|anon_inode):/.test(target) &&
        target !== "/dev/null" &&
        target !== "" &&
        !target.startsWith(lab.hostFolder),
    );
    expect(foreign).to.deep.equal([]);
    expect((await readdir(`${privateFolder}/..`)).sort()).to.deep.equal([
      "component.mjs",
      "deno",
      "files",
      "out.sock",
    ]);
    const command = await readFile(`/proc/${pid}/environ`, "utf8");
    expect(
      command
        .split("\0")
        .filter(Boolean)
        .map(entry => entry.split("=")[0])
        .sort(),
    ).to.deep.equal([
      ...["DENO_DIR", "DENO_DISABLE_OFFSCREEN_CANVAS", "DENO_NO_UPDATE_CHECK", "DENO_WEBGPU_BACKEND"],
      ...["NO_COLOR", "PATH", "TZ"],
    ]);
  });
});

const ATTEMPTS: Record<string, string> = {
  spawn: `return await new Promise((d, f) => cp.spawn("/bin/sh", ["-c", "id"]).on("error", f).on("spawn", d))`,
  exec: `return await new Promise((d, f) => cp.exec("id", (e, out) => e ? f(e) : d(out)))`,
  "exec of itself": `return await new Promise((d, f) => cp.execFile("/proc/self/exe", ["--version"], (e, out) => e ? f(e) : d(out)))`,
  fork: `return await new Promise((d, f) => cp.fork("/tmp/x.mjs").on("error", f).on("exit", () => f(new Error("exit"))).on("message", d))`,
  "Deno.Command": `return await new Deno.Command("/usr/bin/id").output()`,
  "Deno.Command of deno": `return await new Deno.Command(Deno.execPath(), { args: ["eval", "1"] }).output()`,
  "cluster.fork": `return await new Promise((d, f) => { cluster.fork().on("online", d).on("error", f); })`,
  FFI: `return Deno.dlopen("libc.so.6", { getuid: { parameters: [], result: "i32" } }).symbols.getuid()`,
  "FFI by pointer": `return new Deno.UnsafePointerView(Deno.UnsafePointer.create(1n)).getUint8()`,
  "process.dlopen": `const m = { exports: {} }; process.dlopen(m, "/lib/x86_64-linux-gnu/libc.so.6"); return "loaded"`,
  "a native addon": `fs.writeFileSync("a.node", "x"); return nodeModule.createRequire("/tmp/")(process.cwd() + "/a.node")`,
  Worker: `return new Worker("data:text/javascript,1", { type: "module", deno: { permissions: "inherit" } })`,
  "Worker from a blob": `return new Worker(URL.createObjectURL(new Blob(["1"])), { type: "module" })`,
  "Worker of worker_threads": `return await new Promise((d, f) => new workers.Worker("require('fs').readFileSync('/etc/passwd'); require('worker_threads').parentPort.postMessage(1)", { eval: true }).on("message", d).on("error", f).on("exit", () => f(new Error("exit"))))`,
  "a signal to the worker": `return process.kill(process.ppid, "SIGKILL")`,
  "a signal to the neighbour": `return process.kill(at.neighbourPid, "SIGKILL")`,
  "a signal through Deno": `return Deno.kill(at.neighbourPid, "SIGKILL")`,
  "another user": `return process.setuid(0)`,
  "all permissions": `const p = Deno.permissions.requestSync({ name: "run" }); if (p.state !== "granted") throw new Error(p.state); return p.state`,
  "the machine's name": `return Deno.hostname()`,
  "the machine's memory": `return Deno.systemMemoryInfo()`,
  "the inspector": `const i = process.getBuiltinModule("node:inspector"); i.open(9229, "127.0.0.1"); return i.url()`,
  "the bindings of Node": `return process.binding("spawn_sync").spawn({ file: "/usr/bin/id", args: ["id"] })`,
  WASI: `const { WASI } = process.getBuiltinModule("node:wasi"); return new WASI({ version: "preview1", preopens: { "/": "/" } })`,
  "another context": `return vm.runInNewContext("this.constructor.constructor('return Deno')()").readTextFileSync("/etc/passwd")`,
  "another realm": `return new ShadowRealm().evaluate("1")`,
  "an extension of a database": `const { DatabaseSync } = process.getBuiltinModule("node:sqlite"); const d = new DatabaseSync(":memory:", { allowExtension: true }); d.loadExtension("/lib/x86_64-linux-gnu/libc.so.6"); return "loaded"`,
  "a database attached from elsewhere": `const { DatabaseSync } = process.getBuiltinModule("node:sqlite"); const d = new DatabaseSync(":memory:"); d.exec("ATTACH '/var/tmp/headwater-escape.db' AS x; CREATE TABLE x.t (a)"); return "made"`,
};
