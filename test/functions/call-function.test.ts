import { expect } from "chai";
import { type FunctionOutcome, openCallFunction } from "../../src/functions/call-function.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { Calling } from "../../src/platform.ts";
import type { BatchOptions } from "../../src/sandbox/call-runner.ts";
import type { BatchRequest, CallResult } from "../../src/sandbox/protocol.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

type CallBatch = (request: BatchRequest, options: BatchOptions) => Promise<number>;

const RESULT: CallResult = { emits: [], logs: [], durationMs: 1, cpuMs: 1, memoryBytes: 0 };
const meta = {
  ...{ event_id: "1-0", emitter_id: "p_1", event_name: "", subscription_id: null, listener_id: null, ts: 1 },
};

describe("calls of functions", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  /** Returns what calls the function with this many events, in sandboxes that do what `callBatch` says. */
  function caller(callBatch: CallBatch) {
    const sandboxes = async () => ({
      callBatch: (_: string, __: unknown, request: BatchRequest, options: BatchOptions) =>
        callBatch(request, options),
    });
    const call = openCallFunction({ ...platform, sandboxes } as unknown as Calling);
    return (ownerId: string, events: number) =>
      call({
        key: "function",
        bundle: { code: "", hash: "" },
        ownerId,
        inputs: Array.from({ length: events }, (_, n) => ({ event: { n }, meta })),
      });
  }
  const kinds = (outcomes: FunctionOutcome[]) => outcomes.map(({ kind }) => kind).join(" ");

  it("are bounded for an account and for the process: what has no slot was not run", async () => {
    let release = () => {};
    const released = new Promise<void>(resolve => {
      release = resolve;
    });
    const call = caller(async ({ events }, { onResult }) => {
      await released;
      for (const i of events.keys()) onResult(i, RESULT);
      return events.length;
    });
    const underWay: Promise<FunctionOutcome[]>[] = [];
    for (let n = 0; n < LIMITS.functionCallsPerAccount.value; n += 1) underWay.push(call("u_1", 1));
    expect(kinds(await call("u_1", 2))).to.equal("not-run not-run");
    for (let n = underWay.length; n < LIMITS.functionCalls.value; n += 1)
      underWay.push(call(`u_${n + 2}`, 1));
    expect(kinds(await call("u_another", 1))).to.equal("not-run");
    release();
    for (const outcomes of await Promise.all(underWay)) expect(kinds(outcomes)).to.equal("dropped");
  });

  it("go on after an event that ended the process, for as long as the call may last", async () => {
    const now = performance.now;
    let laterMs = 0;
    performance.now = () => now.call(performance) + laterMs;
    try {
      const within: number[] = [];
      const call = caller(async (_, { onResult, startWithinMs }) => {
        within.push(startWithinMs);
        laterMs += LIMITS.functionCallMs.value * 0.4;
        onResult(0, {
          ...RESULT,
          error: { code: "Timeout", message: "The component ran longer than 1 ms", stack: "" },
        });
        return 1;
      });
      expect(kinds(await call("u_1", 5))).to.equal("failed failed failed not-run not-run");
      expect(within[0]).to.equal(LIMITS.functionCallMs.value);
      expect(within[2]).to.be.below(LIMITS.functionCallMs.value * 0.3);
    } finally {
      performance.now = now;
    }
  });

  it("keep of what is logged only the first lines", async () => {
    const message = "x".repeat(LIMITS.functionLogBytes.value / 4);
    const logs = Array.from({ length: 6 }, (_, ts) => ({ level: "info" as const, message, ts }));
    const call = caller(async (_, { onResult }) => {
      onResult(0, { ...RESULT, logs });
      return 1;
    });
    const [outcome] = await call("u_1", 1);
    expect(outcome?.kind === "dropped" && outcome.logs.map(({ ts }) => ts)).to.deep.equal([0, 1, 2, 3]);
  });
});
