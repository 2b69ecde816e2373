import { expect } from "chai";
import { collectOutput } from "../../../src/destinations/action/collect-output.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import type { LogLine } from "../../../src/sandbox/protocol.ts";

const emit = (event: unknown) => ({ event, metadata: {} });
const line = (message: string): LogLine => ({ level: "info", message, ts: 1 });

describe("what is kept of an action's run", () => {
  it("is its summary, the last export of each name, what it returned, and its log", () => {
    const emits = [
      { name: "a", value: 1 },
      { name: "$summary", value: "done" },
      { name: "a", value: 2 },
      { value: [3] },
    ];
    expect(collectOutput({ emits: emits.map(emit), logs: [line("hi")] })).to.deep.equal({
      summary: "done",
      exports: { a: 2 },
      return_value: [3],
      truncated: false,
      logs: [line("hi")],
    });
  });

  it("leaves out what is more than 4 KB together, and says so", () => {
    const value = "x".repeat(LIMITS.actionOutputBytes.value / 2 - 100);
    const emits = ["a", "b", "c"].map(name => emit({ name, value }));
    const { exports, return_value, truncated } = collectOutput({
      emits: [...emits, emit({ value: 1 })],
      logs: [],
    });
    expect([Object.keys(exports), return_value, truncated]).to.deep.equal([["a", "b"], 1, true]);
  });

  it("has the last 4 KB of the log", () => {
    const logs = Array.from({ length: 100 }, (_, i) =>
      line(String(i).padEnd(LIMITS.actionLogBytes.value / 4 - 64)),
    );
    expect(collectOutput({ emits: [], logs }).logs).to.deep.equal(logs.slice(-4));
  });

  it("takes whatever a child says that breaks the protocol", () => {
    const emits = [null, "text", { name: 7, value: {} }, { name: "__proto__", value: { a: 1 } }].map(emit);
    const { exports, return_value } = collectOutput({ emits, logs: [] });
    expect(Object.entries(exports)).to.deep.equal([["__proto__", { a: 1 }]]);
    expect(return_value).to.deep.equal({});
  });
});
