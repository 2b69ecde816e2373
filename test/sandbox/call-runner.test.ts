import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "chai";
import { waitUntilLoaded } from "../../src/sandbox/call-runner.ts";
import type { CallError } from "../../src/sandbox/protocol.ts";
import type { Loaded } from "../../src/sandbox/sandbox.ts";

const LIMIT = { cpu: 300, wall: 1000 };

describe("waiting until a component is loaded", () => {
  const children: ChildProcess[] = [];
  afterEach(() => children.splice(0).forEach(child => void child.kill("SIGKILL")));

  /** A process that says after a while that it is loaded, as a sandbox does. */
  async function loading(afterMs: number, { waited = 0, cpu = 0 } = {}) {
    const child = spawn(process.execPath, [
      "-e",
      `console.log(1); setTimeout(() => console.log(2), ${afterMs})`,
    ]);
    children.push(child);
    await once(child.stdout, "data");
    let end = (_: Loaded) => {};
    const loaded = new Promise<Loaded>(resolve => {
      end = resolve;
    });
    child.stdout.once("data", () => end({ state: "loaded" }));
    let looks = 0;
    return {
      load: () => loaded,
      usedMs: () => (looks++ === 0 ? { cpu: 0, waited: 0 } : { cpu, waited }),
      kill: (error: CallError) => end({ state: "failed", error }),
    };
  }
  const codeOf = async (sandbox: Awaited<ReturnType<typeof loading>>) =>
    (await waitUntilLoaded(sandbox, 0, LIMIT))?.code;

  it("counts no time in which the worker stood still, and has it read what came", async () => {
    const result = codeOf(await loading(100));
    // As a process does that is frozen, or gets no processor.
    const until = performance.now() + 1.5 * LIMIT.wall;
    while (performance.now() < until);
    expect(await result).to.equal(undefined);
  });

  it("ends in a timeout for a component that never loads, which is lost if the machine kept it waiting @long", async () => {
    expect(await codeOf(await loading(60_000))).to.equal("Timeout");
    expect(await codeOf(await loading(60_000, { waited: 3 * LIMIT.wall }))).to.equal("Sandbox Lost");
  });

  it("ends sooner for a component that computes without end", async () => {
    const endless = await waitUntilLoaded(await loading(60_000, { cpu: LIMIT.cpu }), 0, LIMIT);
    expect(endless?.message).to.include("computed for 0.3 s");
  });
});
