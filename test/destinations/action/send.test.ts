import { expect } from "chai";
import { collectOutput, sendToAction } from "../../../src/destinations/action/send.ts";
import { createDestination, deleteDestination } from "../../../src/destinations/destinations.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { SourceMemories } from "../../../src/models/source.ts";
import type { Destination } from "../../../src/models/webhook.ts";
import type { Calling } from "../../../src/platform.ts";
import type { CallOptions } from "../../../src/sandbox/call-runner.ts";
import type { CallRequest, CallResult, LogLine } from "../../../src/sandbox/protocol.ts";
import type { Sandboxes } from "../../../src/sandbox/sandboxes.ts";
import { rejection } from "../../components/rejection.ts";
import { OWNER, webhookOf } from "../../deliveries/fixtures.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";

const CODE = `export default { name: "A", version: "1", type: "action", run() {} };`;
const message = {
  id: "dlv_1",
  eventId: "1700000000000-0",
  emitterId: "p_1",
  eventName: "$test",
  attempt: 1,
  body: "{}",
};

describe("an attempt of an action", () => {
  let platform: TestPlatform;
  let destination: Destination;
  before(async () => {
    platform = await openTestPlatform({}, { process: "web" });
    const body = { action: { component_code: CODE }, ownerId: OWNER, userId: OWNER };
    const { id } = await createDestination(platform, body);
    destination = (await webhookOf(platform, id)) as Destination;
  });
  after(() => platform.destroy());

  /** A platform whose sandboxes are never free, with this time for a run. */
  const busy = (
    runMs: number,
    onCall: (request: CallRequest, options: CallOptions) => void = () => undefined,
  ) => {
    const call: Sandboxes["call"] = (_key, _bundle, request, options = {}) =>
      new Promise(resolve => {
        onCall(request, options);
        const error = { code: "Cancelled", message: "", stack: "" };
        const cancelled = { error, emits: [], logs: [], durationMs: 0, cpuMs: 0, memoryBytes: 0 };
        if (options.signal?.aborted) resolve(cancelled);
        options.signal?.addEventListener("abort", () => resolve(cancelled));
      });
    const sandbox = { ...platform.config.sandbox, runMs };
    const sandboxes = async () => ({ call }) as unknown as Sandboxes;
    return { ...platform, config: { ...platform.config, sandbox }, sandboxes } as Calling;
  };

  it("has a db of its destination, which is kept if the attempt fails, and merged with those that ran at the same time", async () => {
    const code = `export default { name: "B", version: "1", type: "action", props: { db: "$.service.db" }, run() {} };`;
    const { id } = await createDestination(platform, {
      action: { component_code: code },
      ownerId: OWNER,
      userId: OWNER,
    });
    const own = (await webhookOf(platform, id)) as Destination;
    const seen: unknown[] = [];
    const results: Partial<CallResult>[] = [];
    let whenCalled = async () => undefined as unknown;
    const call: Sandboxes["call"] = async (_key, _bundle, { db }) => {
      seen.push(db);
      const result = results.shift();
      await whenCalled();
      return { emits: [], logs: [], durationMs: 0, cpuMs: 0, memoryBytes: 0, ...result };
    };
    const deps = { ...platform, sandboxes: async () => ({ call }) as unknown as Sandboxes } as Calling;
    const send = (to = own) => sendToAction(deps, to, message, undefined, platform.clock());
    const failed = { error: { code: "Error", message: "no", stack: "" } };
    results.push({ db: { a: 1, b: 1 }, ...failed });
    await send();
    // While this one runs, another one changes other keys.
    results.push({ db: { a: 1, b: 2, mine: true } }, { db: { "dotted.$key": 3, b: 1 } });
    whenCalled = async () => {
      whenCalled = async () => undefined;
      await send();
    };
    await send();
    await send();
    expect(seen).to.deep.equal([{}, { a: 1, b: 1 }, { a: 1, b: 1 }, { b: 2, mine: true, "dotted.$key": 3 }]);
    // The code of the first destination has no db.
    results.push({ db: { set: "by an app" } });
    await send(destination);
    await send(destination);
    expect(seen.slice(-2)).to.deep.equal([{}, {}]);
    await deleteDestination(platform, await webhookOf(platform, id));
    results.push({ db: { late: true } });
    await send();
    expect(
      await SourceMemories(platform.mongo).countDocuments({ _id: { $in: [id, destination._id] } }),
    ).to.equal(0);
  });

  it("comes again later if no sandbox is free in time", async () => {
    const deps = busy(20 - LIMITS.actionWaitMs.value - 30_000);
    const error = await rejection(sendToAction(deps, destination, message, undefined, platform.clock()));
    expect([error.code, error.message]).to.deep.equal(["unavailable", "no sandbox was free"]);
  });

  it("says which event it is for, and ends with its worker", async () => {
    const stop = new AbortController();
    let event: unknown;
    let options: CallOptions = {};
    const deps = busy(300_000, (request, given) => {
      event = request.event;
      options = given;
      stop.abort();
    });
    const error = await rejection(sendToAction(deps, destination, message, stop.signal, platform.clock()));
    expect([error.code, error.message]).to.deep.equal(["unavailable", "stopped before the action ended"]);
    expect(event).to.deep.equal({
      event: {},
      context: {
        ...{ id: "dlv_1", ts: "2023-11-14T22:13:20.000Z", attempt: 1, test: true },
        ...{
          event_id: message.eventId,
          event_name: "$test",
          emitter_id: "p_1",
          destination_id: destination._id,
        },
      },
    });
    expect([options.owner, options.wallMs]).to.deep.equal([OWNER, LIMITS.trialMs.value]);
  });
});

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
