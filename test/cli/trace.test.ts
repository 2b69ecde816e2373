import { expect } from "chai";
import { traceLines } from "../../src/cli/trace.ts";
import type { EventTrace } from "../../src/events/trace-schema.ts";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { environmentOf } from "../workers/worker-process.ts";
import { headwater } from "./command.ts";

const CODE = `export default { name: "Hook", version: "1", props: { http: "$.interface.http" },
  run(event) { this.$emit(event.body); } };`;

describe("headwater trace", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api;
  let env: Record<string, string>;
  let deliveryId: string;
  before(async () => {
    system = await startSystem();
    api = await system.user();
    receiver = await startReceiver(200);
    env = {
      ...environmentOf(system.web.config),
      HEADWATER_URL: system.baseUrl,
      HEADWATER_API_KEY: api.apiKey,
    };
    const source = await api.createSource({ component_code: CODE });
    const { id } = await api.createWebhook(receiver.url);
    await api.subscribe(source.id, id);
    await fetch(source.configured_props.http?.endpoint_url ?? "", { method: "POST", body: "hello" });
    await until(() => receiver.requests.length === 1);
    deliveryId = String(receiver.requests[0]?.headers["webhook-id"]);
    await until(async () => (await api.request("GET", `/deliveries/${deliveryId}`)).status === 200);
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  it("prints an event's story for people", async () => {
    const { code, stdout, stderr } = await headwater(["trace", deliveryId], env);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/^event {12}\d+-\d+, emitted 20/);
    expect(stdout).to.match(/^emitted by {7}run_\w+, trigger http, ok, emitted 1$/m);
    expect(stdout).to.match(/^matched {10}sub_\w+ → wh_\w+$/m);
    expect(stdout).to.match(/^delivery {9}dlv_\w+ → wh_\w+: delivered$/m);
    expect(stdout).to.match(/^ {2}attempt 1 .*, HTTP 200, \d+ ms/m);
  });

  it("prints the API's JSON for programs", async () => {
    const { stdout } = await headwater(["trace", deliveryId, "--json"], env);
    const trace: EventTrace = JSON.parse(stdout);
    expect(trace.deliveries[0]).to.include({ id: deliveryId, state: "delivered" });
  });

  it("fails with the API's own words", async () => {
    const missing = await headwater(["trace", "dlv_0000000000000000"], env);
    expect(missing.code).to.equal(1);
    expect(missing.stderr).to.include("delivery not found");
    const ambiguous = await headwater(["trace", "1700000000000-0"], env);
    expect(ambiguous.stderr).to.include("emitter_id: is required");
  });
});

describe("the printed trace of an event", () => {
  const trace: EventTrace = {
    state: "emitted",
    emitter_id: "dc_1",
    emit_id: "run_1-0",
    event_id: "1700000000000-0",
    name: "alerts",
    emitted_at_ms: 1_700_000_000_000,
    summary: null,
    payload: "gone",
    run: null,
    trace_id: null,
    trace_url: null,
    subscriptions: [],
    dispatch: null,
    deliveries: [],
    listeners: [],
    emitter_dropped: {},
  };
  const lines = (changes: Partial<EventTrace>) => traceLines({ ...trace, ...changes }).join("\n");

  it("says that an event waits for the emissions worker", () => {
    expect(lines({ state: "queued", event_id: null, emitted_at_ms: null, name: null })).to.equal(
      "event            accepted, waits for the emissions worker (emit id run_1-0)\nemitter          dc_1, emit id run_1-0",
    );
  });

  it("says that no subscription wanted it, and that it can't be retried", () => {
    const text = lines({});
    expect(text).to.include("none of yours to this emitter: the event went nowhere");
    expect(text).to.include("no longer stored: it can't be retried; its summary was trimmed or deleted");
  });

  it("names the reason of each subscription, what was dropped, and a run's error", () => {
    const text = lines({
      subscriptions: [
        {
          id: "sub_1",
          emitter_id: "dc_*",
          emitter_name: null,
          listener_id: "wh_1",
          listener_name: "inbox",
          event_name: "alerts",
          outcome: "filtered",
          reason: "n must be 2, but is 1",
        },
      ],
      emitter_dropped: { deduped: 3, filtered: 1 },
      run: {
        id: "run_1",
        source_id: "dc_1",
        trigger: "timer",
        outcome: "Timeout",
        error: { code: "Timeout", message: "it took too long" },
        emitted: 1,
        dropped: { deduped: 2 },
        started_at_ms: null,
        finished_at_ms: 0,
      },
      dispatch: { job_id: "j1", state: "waiting" },
      listeners: [{ subscription_id: "sub_2", listener_id: "p_1", state: "taken", run: null }],
    });
    expect(text).to.include("filtered         sub_1 → wh_1: n must be 2, but is 1");
    expect(text).to.include("dropped so far   deduped 3, filtered 1  (all events of dc_1)");
    expect(text).to.include(
      "run_1, trigger timer, Timeout (it took too long), emitted 1, dropped: deduped 2",
    );
    expect(text).to.include("first attempts   job j1: waiting");
    expect(text).to.include("listener         p_1: a workflow engine took it");
  });

  it("has no control character of a text from elsewhere", () => {
    const run = {
      ...{ id: "run_1", source_id: "dc_1", trigger: "http", outcome: "Error", emitted: 0, dropped: {} },
      error: { code: "Error", message: "gone\u001b[2J\u202e wrong" },
      ...{ started_at_ms: null, finished_at_ms: 0 },
    };
    expect(lines({ run }))
      .to.include("(gone  wrong)")
      .and.not.to.include("\u001b")
      .and.not.to.include("\u202e");
  });
});
