import { readlink, stat } from "node:fs/promises";
import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { CallResult } from "../../src/sandbox/protocol.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { startPrintingProgram } from "../support/printing-program.ts";
import { until } from "../support/until.ts";
import {
  openOwnSandboxes,
  openTestSandboxes,
  RUN,
  running,
  LIMITS as TEST_LIMITS,
} from "./sandbox-fixture.ts";

describe("the limits of a sandbox", () => {
  let sandboxes: Sandboxes;
  let key = 0;

  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes.close());
  afterEach(() => sandboxes.drop("k"));

  /** For what ends by another limit. */
  const LONG = { wallMs: 60_000 };
  const run = (body: string, options = {}): Promise<CallResult> =>
    sandboxes.call(`k${++key}`, running(body), RUN, options);

  it("ends an endless loop, and keeps the events and logs before it", async () => {
    const result = await run(`this.$emit(1); console.log("in"); for (;;);`, { wallMs: 500 });
    expect(result.error?.code).to.equal("Timeout");
    expect(result.emits.length).to.equal(1);
    expect(result.logs.length).to.equal(1);
  });

  it("ends a call that waits forever", async () => {
    expect((await run(`await new Promise(() => {})`, { wallMs: 300 })).error?.code).to.equal("Timeout");
  });

  it("ends a component that fills the heap, or uses too much memory outside of it", async () => {
    const heap = await run(
      `this.$emit(1); const a = []; for (;;) a.push(new Array(1000).fill({ a }));`,
      LONG,
    );
    expect(heap.error?.code).to.equal("Out of Memory");
    expect(heap.emits.length).to.equal(1);
    const buffers = await run(
      `const a = []; for (;;) {
      a.push(Buffer.alloc(1e7, 1)); await new Promise(r => setTimeout(r, 5)); }`,
      LONG,
    );
    expect(buffers.error?.code).to.equal("Out of Memory");
  });

  it("ends a component that fills the disk", async () => {
    const result = await run(
      `import("node:fs").then(fs => {
        for (let i = 0; i < 90; i++) fs.writeFileSync("f" + i, Buffer.alloc(1e6, 1)); });
      await new Promise(() => {})`,
      LONG,
    );
    expect(result.error?.message).to.contain(`${LIMITS.sandboxDiskBytes.value / 1024 / 1024} MB`);
  });

  it("ends a component that makes too many files", async () => {
    const result = await run(
      `const fs = await import("node:fs");
      for (let i = 0; i <= ${LIMITS.sandboxFiles.value}; i++) fs.writeFileSync("f" + i, "");
      for (;;) { fs.writeFileSync("f0", "again"); await new Promise(r => setTimeout(r, 1)); }`,
      LONG,
    );
    expect(result.error?.message).to.contain(`${LIMITS.sandboxFiles.value} files`);
  });

  it("lets a run emit as many bytes as it may, and no event beyond that", async () => {
    const bytes = 500 * 1024;
    const result = await run(
      `const text = "x".repeat(${bytes});
      try { for (;;) this.$emit(text); } catch (error) { console.log(error.message); }`,
    );
    expect(result.error).to.equal(undefined);
    expect(result.logs[0]?.message).to.equal(
      `A run can emit at most ${LIMITS.runBytes.value} bytes in total`,
    );
    // Beside its text an event has some fifty bytes, for its metadata and what is around it.
    expect(result.emits).to.have.length(Math.floor(LIMITS.runBytes.value / (bytes + 50)));
  });

  it("starts a new process after a timeout, an exit and a signal", async () => {
    for (const body of ["for (;;);", "process.exit(7)", "process.kill(process.pid, 'SIGKILL')"]) {
      const same = `k-same-${body}`;
      const ended = await sandboxes.call(same, running(body), RUN, { wallMs: 300 });
      expect(ended.error, body).to.not.equal(undefined);
      const next = await sandboxes.call(same, running(`this.$emit("again")`), RUN);
      expect(next, body).to.deep.include({ emits: [{ event: "again", metadata: {} }] });
    }
  });

  it("ends a call that is cancelled while it runs or waits", async () => {
    const stop = new AbortController();
    const first = run(`await new Promise(() => {})`, { signal: stop.signal });
    const others = [run(`await new Promise(() => {})`, { wallMs: 1500 }), run("", { signal: stop.signal })];
    await until(() => sandboxes.stats().busy === 2);
    stop.abort();
    expect((await first).error?.code).to.equal("Cancelled");
    expect((await others[1])?.error?.code).to.equal("Cancelled");
    expect((await others[0])?.error?.code).to.equal("Timeout");
    expect((await run("", { signal: AbortSignal.abort() })).error?.code).to.equal("Cancelled");
  });

  it("drops an event that a timer of an earlier call emits, and says so in the logs of the next call", async () => {
    const leaking = running(
      `if (event.leak) {
         const leak = () => {
           if (!globalThis.isNext) return setTimeout(leak, 5);
           this.$emit("late");
           globalThis.isDone = true;
         };
         leak();
       } else {
         globalThis.isNext = true;
         while (!globalThis.isDone) await new Promise(r => setTimeout(r, 5));
         this.$emit("own");
       }`,
    );
    const first = await sandboxes.call("k-leak", leaking, { ...RUN, event: { leak: true } });
    expect(first.emits).to.deep.equal([]);
    const second = await sandboxes.call("k-leak", leaking, RUN);
    expect(second.emits.map(emit => emit.event)).to.deep.equal(["own"]);
    const third = await sandboxes.call("k-leak", leaking, RUN);
    expect(third.logs[0]?.message).to.contain("1 event was dropped");
  });

  it("ends a process in which a promise rejects between two calls, without affecting the next call", async () => {
    const failing = running(
      `if (event.leak) setTimeout(() => Promise.reject(new Error("later")), 5); this.$emit(process.pid)`,
    );
    const first = await sandboxes.call("k-reject", failing, { ...RUN, event: { leak: true } });
    await until(() => sandboxes.stats().warm === 0, { what: "the process is gone" });
    const second = await sandboxes.call("k-reject", failing, RUN);
    expect(second.error).to.equal(undefined);
    expect(second.emits[0]?.event).to.not.equal(first.emits[0]?.event);
  });

  it("ends a process that computes between two calls @long", async () => {
    await run(`setTimeout(() => { for (;;); }, 10)`);
    await until(() => sandboxes.stats().warm === 0, { what: "the process is gone" });
  });
});

describe("the processes of a sandbox host", () => {
  let sandboxes: Sandboxes;

  afterEach(() => sandboxes.close());

  const pid = async (key: string, body = "") =>
    (await sandboxes.call(key, running(`${body}; this.$emit(process.pid)`), RUN)).emits[0]?.event;

  it("stay warm for their key only, until they are dropped", async () => {
    sandboxes = await openTestSandboxes();
    const first = await pid("a1");
    expect(await pid("a1")).to.equal(first);
    expect(await pid("b1")).to.not.equal(first);
    expect(sandboxes.stats()).to.deep.equal({ warm: 2, busy: 0 });
    sandboxes.drop("a");
    await until(() => sandboxes.stats().warm === 1);
    expect(await pid("a1")).to.not.equal(first);
  });

  it("are never more than permitted, and serve waiting calls in order", async () => {
    sandboxes = await openTestSandboxes({ maxProcesses: 2 });
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        await pid(`key${index}`, "await new Promise(r => setTimeout(r, 50))");
        expect(sandboxes.stats().warm).to.be.lessThan(3);
        order.push(index);
      }),
    );
    // Not exactly in order: on a busy machine a process may take as long to start as two others.
    for (const index of [0, 1, 2]) expect(order.indexOf(index + 3)).to.be.above(order.indexOf(index));
  });

  it("are ended if a new process is needed, the one that was idle longest first", async () => {
    sandboxes = await openTestSandboxes({ maxProcesses: 2 });
    const [a, b] = [await pid("a"), await pid("b")];
    await pid("a");
    // Longer than the pause between two calls of a source with a backlog, in which its process is not ended.
    await new Promise(done => setTimeout(done, 40));
    await pid("c");
    expect(await pid("a")).to.equal(a);
    expect(await pid("b")).to.not.equal(b);
  });

  it("are ended after being idle for a while", async () => {
    sandboxes = await openTestSandboxes({ idleMs: 50 });
    await pid("a");
    await until(() => sandboxes.stats().warm === 0);
  });

  it("are ended after their call if they are dropped while busy", async () => {
    sandboxes = await openTestSandboxes();
    const slow = pid("a", "await new Promise(r => setTimeout(r, 200))");
    await until(() => sandboxes.stats().busy === 1);
    sandboxes.drop("a");
    const first = await slow;
    expect(first).to.be.a("number");
    expect(await pid("a")).to.not.equal(first);
  });

  it("are all ended when the host closes, and calls under way fail as cancelled", async () => {
    sandboxes = await openTestSandboxes();
    const call = sandboxes.call("a", running("await new Promise(() => {})"), RUN);
    await until(() => sandboxes.stats().busy === 1);
    await sandboxes.close();
    expect((await call).error?.code).to.equal("Cancelled");
    expect(sandboxes.stats()).to.deep.equal({ warm: 0, busy: 0 });
  });

  it("of a killed host are ended by the next host, even in an endless loop, and its folder is removed @long", async () => {
    const program = new URL("killed-host.ts", import.meta.url).pathname;
    const { printed, kill } = await startPrintingProgram([program], "the loop runs");
    const child = Number(printed);
    const folder = /^(.*)\/\d+\/files$/.exec(await readlink(`/proc/${child}/cwd`))?.[1] ?? "";
    await kill();
    expect(await stat(folder).then(() => true)).to.equal(true);
    sandboxes = await openOwnSandboxes();
    await until(() =>
      stat(`/proc/${child}/cwd`).then(
        () => false,
        () => true,
      ),
    );
    expect(await stat(folder).catch(error => error.code)).to.equal("ENOENT");
  });

  it("have the configured limits @long", async () => {
    sandboxes = await openTestSandboxes({ limits: { ...TEST_LIMITS, wallMs: 200, maxEmits: 2 } });
    expect((await sandboxes.call("a", running("for (;;);"), RUN)).error?.code).to.equal("Timeout");
    const two = await sandboxes.call("b", running("for (;;) this.$emit(1)"), RUN);
    expect(two.emits.length).to.equal(2);
  });
});
