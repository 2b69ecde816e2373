// runs-long: npm test has test/tracing

import { expect } from "chai";
import { choosePort } from "../../script/lib/ports.mjs";
import { createUser } from "../../src/accounts/users.ts";
import type { EventTrace } from "../../src/events/trace-schema.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { Api, type SourceView } from "../support/api.ts";
import { type Collector, startCollector } from "../support/collector.ts";
import type { ExportedSpan } from "../support/otlp.ts";
import { dropKeys, testConfig } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "../workers/worker-process.ts";

const CODE = `export default { name: "Traced", version: "0.0.1",
  props: { http: "$.interface.http" },
  hooks: { async activate() { this.$emit({ hook: true }); } },
  run(event) { this.$emit({ n: event.body.n }); } };`;
const TICKING = `export default { name: "Ticking", version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } } },
  run() { this.$emit({ tick: true }); } };`;

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
const INBOUND = `00-${TRACE}-${SPAN}-01`;

const send = (source: SourceView, n: number, headers: Record<string, string> = {}) =>
  fetch(source.configured_props.http?.endpoint_url ?? "", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ n }),
  });

const exportingTo = ({ url }: Collector) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url });

/** The span of this name in a trace, once it has arrived. */
const spanOf = (collector: Collector, traceId: string, name: string): Promise<ExportedSpan> =>
  until(() => collector.of(traceId).find(span => span.name === name), { what: `a span ${name}` });

describe("a trace through all processes", () => {
  let platform: Platform;
  let receiver: Receiver;
  let collector: Collector;
  let api: Api;
  let env: Record<string, string>;
  const running = new Map<string, WorkerProcess>();

  const start = async (name: string) => {
    const child = spawnWorker(name, env);
    running.set(name, child);
    await whenReady(child);
    return child;
  };
  const stop = async (name: string, signal: NodeJS.Signals) => {
    const child = running.get(name);
    running.delete(name);
    child?.kill(signal);
    await child?.ended;
  };

  beforeEach(async () => {
    collector = await startCollector();
    receiver = await startReceiver(200);
    const config = testConfig({ TIMEOUTS: "stalled:1s" });
    platform = await openPlatform(config, "runs");
    const port = await choosePort(0);
    env = {
      ...environmentOf(config),
      PORT: String(port),
      DELIVERY_RETRY_SCHEDULE: "100ms,100ms,100ms",
      ...exportingTo(collector),
      TRUST_TRACEPARENT: "true",
      TRACE_URL: "https://traces.example.com/{trace_id}",
    };
    const { api_key } = await createUser(platform, { email: "trace@example.test" });
    api = new Api(`http://127.0.0.1:${port}/v1`, api_key);
  });
  afterEach(async () => {
    for (const name of [...running.keys()]) await stop(name, "SIGKILL");
    await receiver.close();
    await collector.close();
    await platform.mongo.dropDatabase();
    await dropKeys(platform);
    await platform.close();
  });

  it("is one from the request to the receiver, over a retry and a worker that is killed", async () => {
    const [web, runs] = await Promise.all(["web", "runs", "emissions", "deliveries"].map(start));
    const source = await api.createSource({ component_code: CODE });
    const { id: webhookId } = await api.createWebhook(receiver.url);
    await api.subscribe(source.id, webhookId);
    const deliveries = () => collector.of(TRACE).filter(({ name }) => name === "deliver");
    receiver.script(
      500,
      async () => {
        await until(() => deliveries().length === 1, { what: "the span of the first attempt" });
        running.get("deliveries")?.kill("SIGKILL");
        return "hang" as const;
      },
      200,
    );
    await send(source, 1, { traceparent: INBOUND, tracestate: "vendor=1" });
    await until(() => receiver.requests.length === 2, { what: "the retry" });
    await running.get("deliveries")?.ended;
    await start("deliveries");
    await until(() => receiver.requests.length === 3, { what: "the attempt after the kill" });
    await stop("deliveries", "SIGTERM");

    const [ingress, run, emit] = await Promise.all(
      ["ingress", "run", "emit"].map(name => spanOf(collector, TRACE, name)),
    );
    expect(ingress?.parentSpanId).to.equal(SPAN);
    expect(run?.parentSpanId).to.equal(ingress?.spanId);
    expect(emit?.parentSpanId).to.equal(run?.spanId);
    const attempts = deliveries();
    expect(attempts.map(({ parentSpanId }) => parentSpanId)).to.deep.equal([emit?.spanId, emit?.spanId]);
    expect(attempts.map(({ isFailed }) => isFailed)).to.deep.equal([true, false]);
    expect(attempts[0]?.attributes).to.include({ "http.response.status_code": 500, "headwater.attempt": 1 });

    const received = receiver.requests.map(({ headers }) => String(headers.traceparent));
    expect(received[0]).to.equal(`00-${TRACE}-${attempts[0]?.spanId}-01`);
    expect(received[1]).to.match(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    expect(received[2]).to.equal(`00-${TRACE}-${attempts[1]?.spanId}-01`);
    expect(new Set(receiver.requests.map(({ headers }) => headers["webhook-id"])).size).to.equal(1);
    expect(receiver.requests.map(({ headers }) => headers.tracestate)).to.deep.equal(
      Array(3).fill("vendor=1"),
    );

    const deliveryId = String(receiver.requests[0]?.headers["webhook-id"]);
    const event: EventTrace = await api.expect(200, "GET", `/events/${deliveryId}`);
    expect(event).to.include({ trace_id: TRACE, trace_url: `https://traces.example.com/${TRACE}` });
    expect(event.deliveries[0]).to.include({ trace_id: TRACE });
    const [listed] = (await api.request("GET", `/sources/${source.id}/runs`)).body.data;
    expect(listed).to.include({ trace_id: TRACE });
    for (const [process, message] of [
      [web, '"msg":"request"'],
      [runs, '"msg":"run"'],
    ] as const) {
      const hasLine = (line: string) => line.includes(message) && line.includes(`"trace_id":"${TRACE}"`);
      await until(() => process?.output().split("\n").some(hasLine), { what: `${message} with its trace` });
    }
    const texts = JSON.stringify(collector.spans);
    expect(texts).not.to.contain(receiver.url);
    expect(texts).not.to.contain("n=1");
  });
});

describe("traces", () => {
  let system: System | undefined;
  let receiver: Receiver;
  let collector: Collector;
  beforeEach(async () => {
    collector = await startCollector();
    receiver = await startReceiver(200);
  });
  afterEach(async () => {
    await system?.stop();
    system = undefined;
    await receiver.close();
    await collector.close();
  });

  /** Starts the system with these settings, and a source with a webhook. */
  async function open(env: Record<string, string>, code = CODE) {
    system = await startSystem(env);
    const api = await system.user();
    const { id: webhookId } = await api.createWebhook(receiver.url);
    const source = await api.createSource({ component_code: code });
    await api.subscribe(source.id, webhookId);
    return { api, source };
  }
  /** What the API says of an event; a receiver may have its delivery before it is recorded. */
  const traceOf = (api: Api, id: unknown): Promise<EventTrace> =>
    until(
      async () => {
        const { status, body } = await api.request<{ data: EventTrace }>("GET", `/events/${String(id)}`);
        return status === 200 && body.data;
      },
      { what: `the trace of ${String(id)}` },
    );
  const firstHeaders = async () => (await until(() => receiver.requests[0], { what: "a delivery" })).headers;

  it("begin at each request, unless what it brings along is trusted", async () => {
    const { source } = await open(exportingTo(collector));
    await send(source, 1, { traceparent: INBOUND });
    const traceId = String((await firstHeaders()).traceparent).slice(3, 35);
    expect(traceId).not.to.equal(TRACE);
    expect(await spanOf(collector, traceId, "ingress")).to.include({ parentSpanId: "" });
  });

  it("can't be written by a webhook: deliveries do not reach the collector", async () => {
    const { api, source } = await open(exportingTo(collector));
    const { id } = await api.createWebhook(`${collector.url}/v1/traces`);
    await api.subscribe(source.id, id);
    await send(source, 1);
    const delivery = await until(
      async () => (await api.request("GET", `/webhooks/${id}/deliveries`)).body.data[0],
      { what: "an attempt" },
    );
    expect(delivery.last_attempt.error).to.match(/^blocked-address/);
  });

  it("are not made without an endpoint, nor sent to a receiver", async () => {
    const { api, source } = await open({});
    await send(source, 1, { traceparent: INBOUND });
    const headers = await firstHeaders();
    expect(headers).not.to.have.any.keys("traceparent", "tracestate");
    const found = await traceOf(api, headers["webhook-id"]);
    expect(found).to.include({ trace_id: null, trace_url: null });
  });

  it("pass through without an endpoint if what a request brings along is trusted", async () => {
    const { api, source } = await open({ TRUST_TRACEPARENT: "true" });
    await send(source, 1, { traceparent: INBOUND, tracestate: "vendor=1" });
    const headers = await firstHeaders();
    expect(headers).to.include({ traceparent: INBOUND, tracestate: "vendor=1" });
    const found = await traceOf(api, headers["webhook-id"]);
    expect(found).to.include({ trace_id: TRACE });
  });

  it("leave no mark on what the sampler left out, at no stage", async () => {
    const { api, source } = await open({
      ...exportingTo(collector),
      OTEL_TRACES_SAMPLER_ARG: "0",
      TRUST_TRACEPARENT: "true",
    });
    await send(source, 1);
    const headers = await firstHeaders();
    expect(headers).not.to.have.any.keys("traceparent", "tracestate");
    expect(await traceOf(api, headers["webhook-id"])).to.include({ trace_id: null, trace_url: null });
    // Later than all of the first, if there were any: one that is recorded.
    await send(source, 2, { traceparent: INBOUND });
    await spanOf(collector, TRACE, "deliver");
    expect(new Set(collector.spans.map(({ traceId }) => traceId))).to.deep.equal(new Set([TRACE]));
  });

  it("begin at a timer, with one span for the tick and one for its run", async () => {
    await open(exportingTo(collector), TICKING);
    const traceId = String((await firstHeaders()).traceparent).slice(3, 35);
    const [timer, run] = await Promise.all(["timer", "run"].map(name => spanOf(collector, traceId, name)));
    expect(timer?.parentSpanId).to.equal("");
    expect(run?.parentSpanId).to.equal(timer?.spanId);
    expect(run?.attributes).to.include({ "headwater.trigger": "timer", "headwater.emitted": 1 });
  });

  it("show the hooks of a change, and go on with what they emit", async () => {
    const { source } = await open(exportingTo(collector));
    const hook = await until(() => collector.spans.find(({ name }) => name === "hook"), { what: "a hook" });
    expect(hook.attributes).to.deep.equal({ "headwater.hook": "activate", "headwater.source_id": source.id });
    const change = await spanOf(collector, hook.traceId, "run");
    expect(hook.parentSpanId).to.equal(change.spanId);
    expect(change.attributes).to.include({ "headwater.trigger": "create" });
    expect(await spanOf(collector, hook.traceId, "emit")).to.include({ parentSpanId: change.spanId });
  });

  it("hold all events of one publication", async () => {
    const { api, source } = await open(exportingTo(collector));
    await api.expect(202, "POST", `/sources/${source.id}/events`, {
      body: { events: [{ event: 1 }, { event: 2 }] },
    });
    await until(() => receiver.requests.length === 2, { what: "both deliveries" });
    const traces = receiver.requests.map(({ headers }) => String(headers.traceparent).slice(3, 35));
    expect(new Set(traces).size).to.equal(1);
    const ingress = await spanOf(collector, traces[0] ?? "", "ingress");
    expect(ingress.attributes).to.include({ "headwater.trigger": "publish", "headwater.emitted": 2 });
  });
});
