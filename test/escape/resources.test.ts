// runs-long: npm test has test/sandbox/limits.test.ts

import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { running } from "../sandbox/sandbox-fixture.ts";
import { skipBecause } from "../support/skip.ts";
import { until } from "../support/until.ts";
import { type Lab, openLab, resultOf } from "./lab.ts";

describe("an attack on resources", () => {
  let lab: Lab;

  before(async () => {
    lab = await openLab();
  });
  after(() => lab.close());
  afterEach(() => lab.expectUnharmed());

  const BOMBS: Record<string, string> = {
    "an endless loop": `for (;;);`,
    "an endless loop of promises": `const again = () => Promise.resolve().then(again); await again(); await new Promise(() => {})`,
    "an endless loop of immediates": `const again = () => setImmediate(again); again(); await new Promise(() => {})`,
    "an endless wait": `await new Promise(() => {})`,
    "a lock that is never released": `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`,
    "a pattern that backtracks forever": `/^(a+)+$/.test("a".repeat(50) + "b")`,
    "an endlessly growing number": `let n = 3n; for (;;) n = n * n`,
    "a heap that grows": `const a = []; for (;;) a.push({ a: new Array(100).fill(a.length) })`,
    "a string that doubles": `let s = "x"; const all = []; for (;;) { s += s; all.push([...s.slice(0, 1e6)]) }`,
    "buffers outside of the heap": `const a = []; for (;;) { a.push(Buffer.alloc(2e7, 1)); await new Promise(r => setTimeout(r, 1)) }`,
    "four gigabytes at once": `const a = []; for (let i = 0; i < 8; i++) a.push(new Uint8Array(512 * 1024 * 1024).fill(1)); await new Promise(() => {})`,
    "the memory of WebAssembly": `const a = []; for (;;) { const m = new WebAssembly.Memory({ initial: 1000 }); new Uint8Array(m.buffer).fill(1); a.push(m) }`,
    "endless recursion": `const f = () => f() + f(); f()`,
    "clocks that lie": `Date.now = () => 0; performance.now = () => 0; globalThis.setTimeout = () => 0; for (;;);`,
    "signals that are ignored": `for (const s of ["SIGTERM", "SIGINT", "SIGHUP"]) try { process.on(s, () => {}); } catch {} for (;;);`,
    "an exit handler that never returns": `process.on("exit", () => { for (;;); }); process.exit(0)`,
    "an exit": `Deno.exit(0)`,
    "a crash": `process.abort()`,
    "an unhandled rejection": `Promise.reject(new Error("stray")); await new Promise(r => setTimeout(r, 50))`,
    "an error thrown from a timer": `setTimeout(() => { throw new Error("stray") }, 1); await new Promise(r => setTimeout(r, 50))`,
    "an error that can't be read": `throw new Proxy({}, { get() { throw new Error("no") }, has() { throw new Error("no") } })`,
    "an error of a million characters": `throw Object.assign(new Error("x".repeat(1e6)), { name: "n".repeat(1e6), stack: "s".repeat(1e7) })`,
  };
  for (const [name, code] of Object.entries(BOMBS)) {
    it(`ends ${name}`, async () => {
      const result = await lab.attempt(code, { wallMs: 800 });
      expect(result.emits).to.deep.equal([]);
      expect(result.error, name).to.be.an("object");
      expect(JSON.stringify(result.error).length).to.be.below(64 * 1024);
      expect(result.memoryBytes, "resident memory").to.be.below(1024 * 1024 * 1024);
    });
  }

  it("leaves processes for the neighbour when an attacker uses as many as it can get", async () => {
    const loops = Array.from({ length: 12 }, () =>
      lab.attack(running("for (;;);"), { wallMs: 700, owner: "attacker" }),
    );
    await until(() => lab.sandboxes.stats().busy >= 3, { what: "the attacker has all it can get" });
    await lab.expectNeighbourAlive();
    for (const result of await Promise.all(loops)) expect(result.error?.code).to.equal("Timeout");
  });

  it("ignores output of timers that a run leaves behind, and ends the process if they keep computing", async () => {
    const left = await lab.attempt(`
      setInterval(() => { emit("late"); console.log("late"); }, 1);
      for (let i = 0; i < 1000; i++) setTimeout(() => emit("late"), i);
      return "done"`);
    expect(resultOf(left)).to.equal("done");
    expect(left.emits.length).to.equal(1);
    const next = await lab.attempt(`return "next"`);
    expect(next.emits).to.deep.equal([{ event: { escaped: "next" }, metadata: {} }]);
    await lab.attempt(`setTimeout(() => { for (;;); }, 5); return "done"`);
    await until(() => lab.sandboxes.stats().busy > 0 || lab.sandboxes.stats().warm === 1, {
      what: "the loop between two runs is ended",
    });
  });

  it("is also limited by the kernel, as far as the system supports it", async function () {
    const pid = Number(resultOf(await lab.attempt("return process.pid")));
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    const limits = await readFile(`/proc/${pid}/limits`, "utf8");
    const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(status)?.[1];
    const { active } = lab.sandboxes.privileges;
    if (active.length === 0) skipBecause(this, "this system supports none of it");
    if (active.includes("separate user id")) {
      expect(Number(field("Uid")))
        .to.be.above(0)
        .and.not.equal(process.getuid?.());
      expect(field("CapEff")).to.equal("0000000000000000");
    }
    if (active.includes("no new privileges")) expect(field("NoNewPrivs")).to.equal("1");
    if (active.includes("kernel limits")) {
      expect(limits).to.match(/Max open files\s+256\s+256/);
      expect(limits).to.match(/Max core file size\s+0\s+0/);
    }
  });
});
