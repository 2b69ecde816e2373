import { expect } from "chai";
import { CATALOGUE } from "../../src/metrics/catalogue.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import { collectInstallation } from "../../src/ops/metrics.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { allQueues } from "../../src/queues/index.ts";
import { shardsOf } from "../../src/queues/shards.ts";
import { openTestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { shardedEnv } from "../support/shards.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"/g;

/** Parses the text format of Prometheus strictly: every line is a comment or a sample of a declared type. */
function parse(text: string): Sample[] {
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  expect(text.endsWith("\n"), "ends with a line break").to.equal(true);
  for (const line of text.split("\n").slice(0, -1)) {
    if (line === "" || line.startsWith("# HELP ")) continue;
    const declared = /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(line);
    if (declared) {
      expect(types.has(declared[1] ?? ""), `${declared[1]} is declared once`).to.equal(false);
      types.set(declared[1] ?? "", declared[2] ?? "");
      continue;
    }
    const [, name = "", , labels = "", value = ""] =
      /^([a-zA-Z_:][\w:]*)(\{(.*)\})? (-?[\d.e+-]+|\+Inf|N[aA][nN])$/.exec(line) ?? [];
    expect(name, line).not.to.equal("");
    expect(labels.replace(LABEL, "").replaceAll(",", ""), line).to.equal("");
    const family = name.replace(/_(bucket|sum|count)$/, "");
    expect(types.has(name) || types.get(family) === "histogram", `${name} has a type`).to.equal(true);
    samples.push({
      name,
      labels: Object.fromEntries([...labels.matchAll(LABEL)].map(([, key, text]) => [key, text])),
      value: Number(value),
    });
  }
  return samples;
}

const CODE = `export default { name: "Metered", version: "0.0.1", dedupe: "unique", props: { http: "$.interface.http" },
  run(event) {
    if (event.path === "/fail") throw new Error("no");
    this.$emit(event.path, { id: 1, name: event.path === "/other" ? "other" : "" });
  } };`;

const METRICS_TOKEN = "a-token-of-the-test";

describe("/metrics", () => {
  let system: System;
  let receiver: Receiver;
  before(async () => {
    system = await startSystem({ METRICS_TOKEN });
    receiver = await startReceiver(500, 200);
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  /** What Prometheus reads from the web process. */
  async function scrapeWeb(): Promise<Sample[]> {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    const response = await fetch(new URL("/metrics", system.baseUrl), { headers });
    expect(response.status).to.equal(200);
    expect(response.headers.get("content-type")).to.match(/^text\/plain; version=0\.0\.4/);
    return parse(await response.text());
  }
  /** The same without the second that it may be old. */
  const scrapeWebNow = async (): Promise<Sample[]> => parse((await system.web.metrics.expose()).body);
  /** What it reads from the workers' process. */
  const scrapeWorker = async (): Promise<Sample[]> => parse((await system.worker.metrics.expose()).body);
  const scrape = async () => [...(await scrapeWeb()), ...(await scrapeWorker())];

  /** Returns the sum of all samples with this name and these labels. */
  function sumOf(samples: Sample[], name: string, labels: Record<string, string> = {}): number {
    const found = samples.filter(
      sample =>
        sample.name === `headwater_${name}` &&
        Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
    return found.reduce((sum, { value }) => sum + value, 0);
  }

  it("cover requests, queues, runs, deliveries and drops, in Prometheus' text format", async () => {
    const api = await system.user();
    const source = await api.createSource({ component_code: CODE });
    const endpoint = source.configured_props.http?.endpoint_url ?? "";
    /** Each run has a notify job of its own: requests that come together share one. */
    const requestAlone = async (path: string) => {
      const notified = async () =>
        sumOf(await scrapeWorker(), "jobs_total", { queue: "runs", job: "notify", outcome: "done" });
      const before = await notified();
      await fetch(`${endpoint}${path}`);
      await until(async () => (await notified()) > before, { what: `the job of ${path}` });
    };
    await requestAlone("/unheard");
    const errors = await api.createWebhook(receiver.url);
    await api.subscribe(source.id, errors.id, "$errors");
    await requestAlone("/twice");
    await requestAlone("/fail");
    await until(() => receiver.requests.length === 2, { what: "the failed and the second attempt" });
    await api.request("GET", `/sources/dc_nobodys`);
    await fetch(new URL("/no/such/path/at/all", system.baseUrl));
    await fetch(endpoint, { method: "PROPFIND" });

    const samples = await until(async () => {
      const found = await scrape();
      const isDone = sumOf(found, "events_dropped_total", { reason: "deduped" }) === 2;
      return isDone && sumOf(found, "deliveries_total", { outcome: "delivered" }) > 0 && found;
    });
    const httpCount = (labels: Record<string, string>) =>
      sumOf(samples, "http_request_duration_seconds_count", labels);
    expect(httpCount({ route: "/in/{endpoint}", status: "200", method: "GET" })).to.equal(3);
    expect(httpCount({ route: "/in/{endpoint}", method: "other" })).to.equal(1);
    expect(httpCount({ route: "/v1/sources/{id}", status: "404" })).to.equal(1);
    expect(httpCount({ route: "/v1/sources", status: "201" })).to.equal(1);
    for (const { name: queue } of allQueues) {
      for (const state of ["waiting", "active", "delayed", "failed"]) {
        const found = samples.filter(
          ({ name, labels }) =>
            name === "headwater_queue_jobs" && labels.queue === queue && labels.state === state,
        );
        expect(found, `${queue} ${state}`).to.have.length(1);
      }
      expect(sumOf(samples, "queue_oldest_waiting_seconds", { queue })).to.be.at.least(0);
    }
    expect(sumOf(samples, "runs_total", { outcome: "ok" })).to.equal(3);
    expect(sumOf(samples, "runs_total", { outcome: "error" })).to.equal(1);
    expect(sumOf(samples, "emissions_total", { stream: "errors" })).to.equal(1);
    expect(sumOf(samples, "events_dropped_total", { reason: "no-listener" })).to.equal(1);
    expect(sumOf(samples, "events_dropped_total", { reason: "deduped" })).to.equal(2);
    expect(sumOf(samples, "jobs_total", { queue: "runs", job: "notify", outcome: "done" })).to.be.at.least(3);
    expect(sumOf(samples, "delivery_duration_seconds_count", { outcome: "delivered" })).to.be.at.least(1);
    expect(sumOf(samples, "event_first_attempt_seconds_count")).to.be.at.least(1);
    expect(sumOf(samples, "run_delay_seconds_count", { trigger: "http" })).to.equal(4);
    expect(sumOf(samples, "redis_memory_used_ratio")).to.be.within(0.000_001, 1);
  });

  it("belong to the process that exposes them, so that a sum over all processes counts nothing twice", async () => {
    const [web, worker] = [await scrapeWeb(), await scrapeWorker()];
    expect(sumOf(web, "http_request_duration_seconds_count")).to.be.greaterThan(0);
    expect(sumOf(worker, "http_request_duration_seconds_count")).to.equal(0);
    expect(sumOf(worker, "runs_total")).to.be.greaterThan(0);
    expect(sumOf(web, "runs_total")).to.equal(0);
    for (const [name, { kind }] of Object.entries(CATALOGUE)) {
      const inWorker = worker.some(sample => sample.name === `headwater_${name}`);
      if (kind === "gauge") expect(inWorker, name).to.equal(false);
    }
  });

  it("count webhooks that fail or were disabled, and how long the most overdue delivery has been due", async () => {
    const api = await system.user();
    const now = Date.now();
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push((await api.createWebhook("http://127.0.0.1:1/")).id);
    const webhooks = Webhooks(system.web.mongo);
    const before = await scrapeWebNow();
    await webhooks.updateMany({ _id: { $in: ids.slice(0, 2) } }, { $set: { failing_since_ms: now } });
    await webhooks.updateOne({ _id: ids[2] }, { $set: { active: false, disabled_reason: "it failed" } });
    const after = await scrapeWebNow();
    const more = (state: string) =>
      sumOf(after, "webhooks", { state }) - sumOf(before, "webhooks", { state });
    expect([more("failing"), more("disabled")]).to.deep.equal([2, 1]);
    expect(sumOf(before, "deliveries_oldest_due_seconds")).to.be.lessThan(60);
    await Deliveries(system.web.mongo).updateMany(
      {},
      { $set: { state: "pending", next_attempt_at_ms: now - 90_000, sweep_at_ms: now + 600_000 } },
    );
    expect(sumOf(await scrapeWebNow(), "deliveries_oldest_due_seconds")).to.be.within(90, 120);
  });

  it("show how many jobs wait in a queue, and how long the oldest one has waited", async () => {
    const queue = system.web.queues.get("workflow-events");
    await queue?.add("workflow-events", {}, { timestamp: Date.now() - 90_000 });
    await queue?.add("workflow-events", {});
    const samples = await scrapeWebNow();
    expect(sumOf(samples, "queue_jobs", { queue: "workflow-events", state: "waiting" })).to.equal(2);
    expect(sumOf(samples, "queue_oldest_waiting_seconds", { queue: "workflow-events" })).to.be.within(
      90,
      120,
    );
  });

  it("have no label with a value that a caller can choose", async () => {
    await fetch(new URL("/secret-path", system.baseUrl), { method: "PURGE" });
    await fetch(new URL('/in/x"}evil', system.baseUrl));
    for (const { labels } of await scrape()) {
      for (const value of Object.values(labels)) expect(value).not.to.match(/secret-path|PURGE|evil|dc_/);
    }
  });
});

describe("the metrics of a queue with shards", () => {
  it("are the sum of their jobs, and the age of the oldest one on any", async () => {
    const platform = await openTestPlatform(await shardedEnv({ deliveries: 3 }));
    try {
      const shards = shardsOf(openedQueue(platform.queues, { name: "deliveries" }));
      expect(shards).to.have.length(3);
      await shards[2]?.add("drain", {}, { timestamp: Date.now() - 90_000 });
      for (const shard of shards) await shard.add("drain", {});
      collectInstallation(platform);
      const samples = parse((await platform.metrics.expose()).body);
      const of = (name: string, state?: string) =>
        samples.filter(
          one =>
            one.name === `headwater_${name}` &&
            one.labels.queue?.startsWith("deliveries") &&
            one.labels.state === state,
        );
      expect(of("queue_jobs", "waiting").map(({ value }) => value)).to.deep.equal([4]);
      const ages = of("queue_oldest_waiting_seconds").map(({ value }) => value);
      expect(ages).to.have.length(1);
      expect(ages[0]).to.be.within(90, 120);
    } finally {
      await platform.destroy();
    }
  });
});
