import { expect } from "chai";
import type { CallsOptions } from "../../src/sandbox/call-options.ts";
import type { Sandboxes } from "../../src/sandbox/host.ts";
import type { CallResult } from "../../src/sandbox/protocol.ts";
import { until } from "../support/until.ts";
import { openTestSandboxes, RUN, running } from "./sandbox-fixture.ts";

const DB = `props: { db: "$.service.db", http: "$.interface.http" },`;
const LONG_MS = 60_000;

describe("calls of a sandbox that follow each other", () => {
  let sandboxes: Sandboxes;
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes.close());
  afterEach(() => sandboxes.drop("k"));

  /** Calls until all events had their turn, as a worker does: on the db that it was told last. */
  async function callAll(
    bundle: ReturnType<typeof running>,
    events: unknown[],
    options: Partial<CallsOptions> = {},
  ) {
    const results: CallResult[] = [];
    const rounds: number[] = [];
    let db: Record<string, unknown> = {};
    while (results.length < events.length) {
      const at = results.length;
      const done = await sandboxes.calls(
        "k",
        bundle,
        { call: "run", props: { list: [0] }, db, events: events.slice(at) },
        {
          forMs: LONG_MS,
          ...options,
          onRespond: (index, response) => options.onRespond?.(at + index, response),
          onResult(index, result) {
            expect(at + index, "results come in order").to.equal(results.length);
            results.push(result);
            db = result.db ?? db;
            options.onResult?.(at + index, result);
          },
        },
      );
      expect(results.length - at).to.equal(done);
      rounds.push(done);
    }
    return { results, rounds, db };
  }
  const eventsOf = (results: CallResult[]) => results.map(({ emits }) => emits.map(({ event }) => event));
  const codesOf = (results: CallResult[]) => results.map(({ error }) => error?.code);
  const numbers = (length: number) => Array.from({ length }, (_, n) => n);

  it("carry the db from one to the next, but no change of a prop and no db that was kept for later", async () => {
    const body = `
      const old = globalThis.old; globalThis.old = this.db;
      old?.set("late", event);
      this.list.push(event);
      this.db.set("seen", [...(this.db.get("seen") ?? []), event]);
      this.$emit([event, this.list, this.db.get("late") ?? null]);
      if (event === 1) throw new TypeError("on purpose");`;
    const { results, rounds, db } = await callAll(running(body, DB), [0, 1, 2, 3, 4]);
    expect(rounds, "in one go").to.deep.equal([5]);
    expect(codesOf(results)).to.deep.equal([undefined, "TypeError", undefined, undefined, undefined]);
    expect(eventsOf(results)).to.deep.equal(numbers(5).map(n => [[n, [0, n], null]]));
    expect(db).to.deep.equal({ seen: [0, 1, 2, 3, 4] });
  });

  it("are given many at a time once they are known to be quick, each exactly once", async () => {
    const { results, rounds } = await callAll(running("this.$emit(event)"), numbers(300));
    expect(eventsOf(results)).to.deep.equal(numbers(300).map(n => [n]));
    expect(rounds.length).to.be.below(20);
  });

  for (const [what, end, code, options] of [
    ["ends its process", "process.exit(3)", "Error", {}],
    ["never ends computing", "for (;;);", "Timeout", { wallMs: 700 }],
    [
      "takes too much memory",
      "const a = []; for (;;) a.push(new Array(1000).fill({ a }));",
      "Out of Memory",
      {},
    ],
  ] as const) {
    it(`fail alone when one ${what}: those before it stand, those after it have another process`, async () => {
      const body = `this.db.set("seen", [...(this.db.get("seen") ?? []), event]); this.$emit(event); this.$emit(process.pid);
        if (event === 2) { ${end} }`;
      const { results, db } = await callAll(running(body, DB), [0, 1, 2, 3, 4], options);
      expect(codesOf(results)).to.deep.equal([undefined, undefined, code, undefined, undefined]);
      expect(eventsOf(results).map(([event]) => event)).to.deep.equal([0, 1, 2, 3, 4]);
      const pids = eventsOf(results).map(([, pid]) => pid);
      expect(pids[1]).to.equal(pids[2]);
      expect(pids[3]).to.not.equal(pids[2]);
      expect(pids[3]).to.equal(pids[4]);
      expect(db, "what the failed one set is unknown").to.deep.equal({ seen: [0, 1, 3, 4] });
    });
  }

  it("tell a response at once, and the results before it, while a later one is under way", async () => {
    const told: string[] = [];
    const stopped = new AbortController();
    const under = callAll(
      running(
        `if (event === 1) this.http.respond({ status: 201, body: "one" });
         if (event === 2) await new Promise(() => {});`,
        DB,
      ),
      [0, 1, 2],
      {
        signal: stopped.signal,
        onRespond: (index, { status }) => told.push(`${index} answers ${status}`),
        onResult: (index, { error }) => told.push(`${index} ends ${error?.code ?? "well"}`),
      },
    );
    await until(() => told.length === 3, { what: "what came before the one that waits" });
    expect(told).to.deep.equal(["0 ends well", "1 answers 201", "1 ends well"]);
    stopped.abort();
    const { results } = await under;
    expect(codesOf(results)).to.deep.equal([undefined, undefined, "Cancelled"]);
  });

  it("begin no further one when their time is over, and give the rest back", async () => {
    const slow = running("await new Promise(done => setTimeout(done, 20)); this.$emit(event)");
    const { results, rounds } = await callAll(slow, numbers(4), { forMs: 30 });
    expect(eventsOf(results)).to.deep.equal([[0], [1], [2], [3]]);
    expect(rounds.length).to.be.above(1);
    expect(
      results.every(({ durationMs }) => durationMs >= 15),
      "each its own time",
    ).to.equal(true);
  });

  it("count each for itself: the limits of events, and the process's calls", async () => {
    const own = await openTestSandboxes({ maxCalls: 3 });
    try {
      const results: CallResult[] = [];
      const many = running("for (let i = 0; i < 9000; i++) this.$emit(process.pid)");
      const request = { call: "run" as const, props: {}, db: {}, events: [1, 2, 3, 4, 5] };
      const options = { forMs: LONG_MS, onResult: (_: number, result: CallResult) => results.push(result) };
      expect(await own.calls("k", many, request, options)).to.equal(3);
      expect(codesOf(results)).to.deep.equal([undefined, undefined, undefined]);
      expect(results.map(({ emits }) => emits.length)).to.deep.equal([9000, 9000, 9000]);
      const next = await own.call("k", running("this.$emit(process.pid)"), RUN);
      expect(next.emits[0]?.event).to.not.equal(results[0]?.emits[0]?.event);
    } finally {
      await own.close();
    }
  });
});
