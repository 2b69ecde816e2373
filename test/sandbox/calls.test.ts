import { expect } from "chai";
import type { BatchOptions } from "../../src/sandbox/call-runner.ts";
import type { CallResult } from "../../src/sandbox/protocol.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { until } from "../support/until.ts";
import { openTestSandboxes, RUN, running } from "./sandbox-fixture.ts";

const DB = `props: { db: "$.service.db", http: "$.interface.http" },`;
const LONG_MS = 60_000;

describe("a batch of calls in a sandbox", () => {
  let sandboxes: Sandboxes;
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes.close());
  afterEach(() => sandboxes.drop("k"));

  /** Calls until all events are handled, as a worker does, always with the db that was returned last. */
  async function callAll(
    bundle: ReturnType<typeof running>,
    events: unknown[],
    options: Partial<BatchOptions> = {},
  ) {
    const results: CallResult[] = [];
    const batches: number[] = [];
    let db: Record<string, unknown> = {};
    while (results.length < events.length) {
      const at = results.length;
      const completed = await sandboxes.callBatch(
        "k",
        bundle,
        { call: "run", props: { list: [0] }, db, events: events.slice(at) },
        {
          startWithinMs: LONG_MS,
          ...options,
          onRespond: (index, response) => options.onRespond?.(at + index, response),
          onResult(index, result) {
            expect(at + index, "the order of the results").to.equal(results.length);
            results.push(result);
            db = result.db ?? db;
            options.onResult?.(at + index, result);
          },
        },
      );
      expect(results.length - at).to.equal(completed);
      batches.push(completed);
    }
    return { results, batches, db };
  }
  const eventsOf = (results: CallResult[]) => results.map(({ emits }) => emits.map(({ event }) => event));
  const codesOf = (results: CallResult[]) => results.map(({ error }) => error?.code);
  const numbers = (length: number) => Array.from({ length }, (_, n) => n);

  it("passes the db on to the next call, but not changed props or a db object that a call kept", async () => {
    const body = `
      const old = globalThis.old; globalThis.old = this.db;
      old?.set("late", event);
      this.list.push(event);
      this.db.set("seen", [...(this.db.get("seen") ?? []), event]);
      this.$emit([event, this.list, this.db.get("late") ?? null]);
      if (event === 1) throw new TypeError("on purpose");`;
    const { results, batches, db } = await callAll(running(body, DB), [0, 1, 2, 3, 4]);
    expect(batches, "in one batch").to.deep.equal([5]);
    expect(codesOf(results)).to.deep.equal([undefined, "TypeError", undefined, undefined, undefined]);
    expect(eventsOf(results)).to.deep.equal(numbers(5).map(n => [[n, [0, n], null]]));
    expect(db).to.deep.equal({ seen: [0, 1, 2, 3, 4] });
  });

  it("sends many calls at a time once they prove to be quick, each exactly once", async () => {
    const { results, batches } = await callAll(running("this.$emit(event)"), numbers(300));
    expect(eventsOf(results)).to.deep.equal(numbers(300).map(n => [n]));
    expect(batches.length).to.be.below(20);
  });

  for (const [what, end, code, options] of [
    ["ends its process", "process.exit(3)", "Error", {}],
    ["computes without end", "for (;;);", "Timeout", { wallMs: 700 }],
    [
      "uses too much memory",
      "const a = []; for (;;) a.push(new Array(1000).fill({ a }));",
      "Out of Memory",
      {},
    ],
  ] as const) {
    it(`fails only the call that ${what}, and continues with the next call in another process @long`, async () => {
      const body = `this.db.set("seen", [...(this.db.get("seen") ?? []), event]); this.$emit(event); this.$emit(process.pid);
        if (event === 2) { ${end} }`;
      const { results, db } = await callAll(running(body, DB), [0, 1, 2, 3, 4], options);
      expect(codesOf(results)).to.deep.equal([undefined, undefined, code, undefined, undefined]);
      expect(eventsOf(results).map(([event]) => event)).to.deep.equal([0, 1, 2, 3, 4]);
      const pids = eventsOf(results).map(([, pid]) => pid);
      expect(pids[1]).to.equal(pids[2]);
      expect(pids[3]).to.not.equal(pids[2]);
      expect(pids[3]).to.equal(pids[4]);
      expect(db, "with what the failed call had set, as its events are kept").to.deep.equal({
        seen: [0, 1, 2, 3, 4],
      });
    });
  }

  it("reports a response and earlier results at once, while a later call is under way", async () => {
    const reported: string[] = [];
    const stopped = new AbortController();
    const pending = callAll(
      running(
        `if (event === 1) this.http.respond({ status: 201, body: "one" });
         if (event === 2) await new Promise(() => {});`,
        DB,
      ),
      [0, 1, 2],
      {
        signal: stopped.signal,
        onRespond: (index, { status }) => reported.push(`${index} responds ${status}`),
        onResult: (index, { error }) => reported.push(`${index} ends ${error?.code ?? "well"}`),
      },
    );
    await until(() => reported.length === 3, { what: "the reports before the call that waits" });
    expect(reported).to.deep.equal(["0 ends well", "1 responds 201", "1 ends well"]);
    stopped.abort();
    const { results } = await pending;
    expect(codesOf(results)).to.deep.equal([undefined, undefined, "Cancelled"]);
  });

  it("starts no further call when its time is over, and leaves the rest to the caller", async () => {
    const slow = running("await new Promise(done => setTimeout(done, 20)); this.$emit(event)");
    const { results, batches } = await callAll(slow, numbers(4), { startWithinMs: 30 });
    expect(eventsOf(results)).to.deep.equal([[0], [1], [2], [3]]);
    expect(batches.length).to.be.above(1);
    expect(
      results.every(({ durationMs }) => durationMs >= 15),
      "the duration of each call",
    ).to.equal(true);
  });

  it("applies the limit of events to each call, and counts each call of the process", async () => {
    const own = await openTestSandboxes({ maxCalls: 3 });
    try {
      const results: CallResult[] = [];
      const many = running("for (let i = 0; i < 9000; i++) this.$emit(process.pid)");
      const request = { call: "run" as const, props: {}, db: {}, events: [1, 2, 3, 4, 5] };
      const options = {
        startWithinMs: LONG_MS,
        onResult: (_: number, result: CallResult) => results.push(result),
      };
      expect(await own.callBatch("k", many, request, options)).to.equal(3);
      expect(codesOf(results)).to.deep.equal([undefined, undefined, undefined]);
      expect(results.map(({ emits }) => emits.length)).to.deep.equal([9000, 9000, 9000]);
      const next = await own.call("k", running("this.$emit(process.pid)"), RUN);
      expect(next.emits[0]?.event).to.not.equal(results[0]?.emits[0]?.event);
    } finally {
      await own.close();
    }
  });
});
