import { expect } from "chai";
import { pino } from "pino";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Metrics } from "../../src/metrics/metrics.ts";
import { samplerOf } from "../../src/tracing/sampler.ts";
import { traceIdOf } from "../../src/tracing/trace-context.ts";
import { openTracer, Tracer } from "../../src/tracing/tracer.ts";
import { type Collector, startCollector } from "../support/collector.ts";
import { until } from "../support/until.ts";

const INBOUND = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";
const SAMPLED = `${INBOUND}-01`;

/** Variables that OpenTelemetry's exporter reads itself. */
const ENV = { OTEL_EXPORTER_OTLP_HEADERS: "x-key=k1", OTEL_SERVICE_NAME: "shop" };

describe("a tracer without an endpoint", () => {
  it("records nothing, whatever came in", () => {
    const tracer = new Tracer(samplerOf(1));
    expect(tracer.enter("ingress", 0, { inbound: SAMPLED })).to.equal(undefined);
    expect(tracer.start("run", SAMPLED, 0)).to.equal(undefined);
    expect(tracer.start("run", undefined, 0)).to.equal(undefined);
  });
});

describe("a tracer", () => {
  let collector: Collector;
  let metrics: Metrics;
  let warnings: string[];
  before(() => {
    Object.assign(process.env, ENV);
  });
  after(() => {
    for (const name of Object.keys(ENV)) delete process.env[name];
  });
  beforeEach(async () => {
    collector = await startCollector();
    metrics = new Metrics();
    warnings = [];
  });
  afterEach(() => collector.close());

  const open = ({ ratio = 1, endpoint = collector.url, exportEveryMs = 100 } = {}) =>
    openTracer(
      { endpoint, ratio, exportEveryMs },
      {
        log: pino({ level: "warn" }, { write: line => void warnings.push(line) }),
        metrics,
        version: "1.2.3",
        name: "runs",
        id: "p1",
      },
    );

  it("exports spans with their times, attributes and process, below each other", async () => {
    const tracer = await open();
    const ingress = tracer.enter("ingress", 1000);
    const run = tracer.start("run", ingress?.context, 2000);
    ingress?.end({ "headwater.source_id": "dc_1" }, 1500);
    run?.end({ "headwater.emitted": 2, "headwater.left_out": undefined }, 2500, "Timeout");
    await tracer.close(30_000);
    const [first, second] = collector.spans;
    expect(first).to.deep.include({ name: "ingress", parentSpanId: "", startMs: 1000, endMs: 1500 });
    expect(first?.traceId).to.equal(traceIdOf(ingress?.context ?? ""));
    expect(first?.attributes).to.deep.equal({ "headwater.source_id": "dc_1" });
    expect(first?.resource).to.deep.include({
      "service.name": "shop",
      "service.version": "1.2.3",
      "service.instance.id": "p1",
      "headwater.process": "runs",
    });
    expect(second).to.deep.include({ name: "run", traceId: first?.traceId, parentSpanId: first?.spanId });
    expect(second).to.deep.include({ isFailed: true });
    expect(second?.attributes).to.deep.equal({ "headwater.emitted": 2, "error.type": "Timeout" });
    expect(collector.requests[0]).to.include({ "x-key": "k1", "content-type": "application/x-protobuf" });
    expect(await metrics.valueOf("spans_total", { outcome: "exported" })).to.equal(2);
  });

  it("goes on with the trace that came in, and with its tracestate", async () => {
    const tracer = await open();
    const span = tracer.enter("ingress", 1, { inbound: `${SAMPLED} a=1` });
    span?.end({}, 2);
    await tracer.close(30_000);
    expect(span?.context).to.match(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01 a=1$/);
    expect(collector.spans[0]).to.include({ parentSpanId: "00f067aa0ba902b7", traceState: "a=1" });
  });

  it("makes the same ids from the same seed", async () => {
    const tracer = await open();
    const [one, same, other] = ["a", "a", "b"].map(seed => tracer.enter("timer", 1, { seed })?.context);
    expect(one).to.equal(same);
    expect(one).not.to.equal(other);
    await tracer.close(0);
  });

  it("passes on nothing of a trace that begins here and is not recorded, and exports nothing of it", async () => {
    const tracer = await open({ ratio: 0 });
    expect(tracer.enter("ingress", 1)).to.equal(undefined);
    expect(tracer.enter("timer", 1, { seed: "a" })).to.equal(undefined);
    expect(tracer.start("run", undefined, 1)).to.equal(undefined);
    await tracer.close(30_000);
    expect(collector.requests).to.deep.equal([]);
  });

  it("passes on a trace that came in and is not recorded here, with the span that it came with", async () => {
    const tracer = await open();
    const entered = tracer.enter("ingress", 1, { inbound: `${INBOUND}-00 a=1` });
    entered?.end({}, 2);
    expect(entered?.context).to.equal(`${INBOUND}-00 a=1`);
    expect(tracer.start("run", entered?.context, 1)).to.equal(undefined);
    await tracer.close(30_000);
    expect(collector.requests).to.deep.equal([]);
  });

  it("drops and counts spans beyond those that may wait, and warns of a collector that is away @long", async () => {
    const { url } = collector;
    await collector.close();
    const tracer = await open({ endpoint: url });
    const most = LIMITS.spansWaiting.value;
    for (let i = 0; i < most + 10; i++) tracer.enter("ingress", 1)?.end({}, 2);
    expect(await metrics.valueOf("spans_total", { outcome: "dropped" })).to.equal(10);
    const failed = () => metrics.valueOf("spans_total", { outcome: "failed" });
    await until(async () => (await failed()) > 0, { what: "an export that fails" });
    expect(warnings[0]).to.contain("spans can't be exported");
    await tracer.close(0);
    collector = await startCollector();
  });

  it("exports what waits without being closed, as often as it is set to", async () => {
    const [often, seldom] = [await open(), await open({ exportEveryMs: 60_000 })];
    seldom.enter("timer", 1)?.end({}, 2);
    often.enter("ingress", 1)?.end({}, 2);
    await until(() => collector.spans.length > 0, { what: "an export" });
    expect(collector.spans.map(({ name }) => name)).to.deep.equal(["ingress"]);
    await Promise.all([often, seldom].map(tracer => tracer.close(30_000)));
    expect(collector.spans.map(({ name }) => name)).to.deep.equal(["ingress", "timer"]);
  });

  it("exports all that waits when it is closed", async () => {
    const tracer = await open({ exportEveryMs: 60_000 });
    const most = LIMITS.spansWaiting.value;
    for (let i = 0; i < most; i++) tracer.enter("ingress", 1)?.end({}, 2);
    await tracer.close(30_000);
    expect(collector.spans).to.have.length(most);
    expect(await metrics.valueOf("spans_total", { outcome: "exported" })).to.equal(most);
  });

  it("counts the spans of an export that breaks down, and goes on", async () => {
    collector.respond(400);
    const tracer = await open();
    for (const total of [1, 2]) {
      tracer.enter("ingress", 1)?.end({}, 2);
      await until(async () => (await metrics.valueOf("spans_total", { outcome: "failed" })) === total, {
        what: `${total} failed spans`,
      });
    }
    expect(warnings[0]).to.contain("spans can't be exported");
    await tracer.close(30_000);
  });

  it("stops in time although the collector does not respond", async () => {
    collector.respond(null);
    const tracer = await open();
    tracer.enter("ingress", 1)?.end({}, 2);
    await tracer.close(10);
    expect(collector.spans).to.deep.equal([]);
  });
});

describe("a sampler", () => {
  const NONE = `${INBOUND}-00`;
  const idAt = (share: number) =>
    `${"a".repeat(19)}${Math.floor(share * 16 ** 13)
      .toString(16)
      .padStart(13, "0")}`;

  for (const [ratio, own, sampled, unsampled] of [
    [1, true, true, false],
    [0, false, true, false],
  ] as const) {
    it(`by the ratio ${ratio} decides as OpenTelemetry's parentbased_traceidratio`, () => {
      const decide = samplerOf(ratio);
      expect([
        decide(idAt(0.5), undefined),
        decide(idAt(0.5), SAMPLED),
        decide(idAt(0.5), NONE),
      ]).to.deep.equal([own, sampled, unsampled]);
    });
  }

  it("by ratio records the traces below it, the same ones everywhere", () => {
    const decide = samplerOf(0.25);
    expect([0, 0.24, 0.26, 0.99].map(share => decide(idAt(share), undefined))).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
    expect(decide(idAt(0.99), SAMPLED)).to.equal(true);
    expect(decide(idAt(0), NONE)).to.equal(false);
  });
});
