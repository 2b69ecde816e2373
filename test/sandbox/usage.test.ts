import { expect } from "chai";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { skipBecause } from "../support/skip.ts";
import { until } from "../support/until.ts";
import { LIMITS, openTestSandboxes, RUN, running } from "./sandbox-fixture.ts";

describe("the usage of a call", () => {
  let sandboxes: Sandboxes;

  before(async function () {
    if (process.platform !== "linux") skipBecause(this, "it is about Linux");
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());

  it("includes processor time, which does not grow while waiting, and memory", async () => {
    const burn = running(
      `const until = process.cpuUsage().user + 150000; while (process.cpuUsage().user < until);`,
    );
    const busy = await sandboxes.call("a", burn, RUN);
    expect(busy.error).to.equal(undefined);
    expect(busy.cpuMs).to.be.within(140, busy.durationMs * 4);
    const idle = await sandboxes.call("b", running(`await new Promise(r => setTimeout(r, 300))`), RUN);
    expect(idle.cpuMs).to.be.below(idle.durationMs / 2);
    const large = await sandboxes.call("c", running(`globalThis.kept = Buffer.alloc(5e7, 1)`), RUN);
    expect(large.memoryBytes - idle.memoryBytes).to.be.above(4e7);
  });

  it("is also reported for a call that was ended", async () => {
    const ended = await sandboxes.call("d", running("for (;;);"), RUN, { wallMs: 500 });
    expect(ended.error?.code).to.equal("Timeout");
    expect(ended.cpuMs).to.be.above(0);
    expect(ended.memoryBytes).to.be.above(1e6);
  });

  it("ends a call that exceeds its limit of processor time, long before its wall-clock limit", async () => {
    const limited = await openTestSandboxes({ limits: { ...LIMITS, cpuMs: 300, wallMs: 60_000 } });
    try {
      const result = await limited.call("a", running("for (;;);"), RUN);
      expect(result.error?.message).to.contain("more than 300 ms of processor time");
    } finally {
      await limited.close();
    }
  });

  it("ends a process after the permitted number of calls", async () => {
    const limited = await openTestSandboxes({ maxCalls: 3 });
    const pid = async () =>
      (await limited.call("a", running("this.$emit(process.pid)"), RUN)).emits[0]?.event;
    try {
      const pids = [await pid(), await pid(), await pid(), await pid()];
      expect(new Set(pids.slice(0, 3)).size).to.equal(1);
      expect(pids[3]).to.not.equal(pids[0]);
      await until(() => limited.stats().warm === 1);
    } finally {
      await limited.close();
    }
  });
});
