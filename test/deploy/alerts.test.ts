import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "chai";
import { CATALOGUE } from "../../src/metrics/catalogue.ts";
import { read, root } from "../docs/repository.ts";
import { startReceiver } from "../support/receiver.ts";
import { programOrSkip } from "../support/skip.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const FOLDER = "deploy/prometheus";
const RULES = read(`${FOLDER}/headwater.rules.yml`);
const BOARD = JSON.parse(read("deploy/grafana/headwater.json"));

/** Every query of the board and of the rules; a rule's may go on over some lines. */
const QUERIES = [
  ...BOARD.panels.flatMap((panel: { targets?: { expr: string }[] }) =>
    (panel.targets ?? []).map(({ expr }) => expr),
  ),
  ...[...RULES.matchAll(/^ {8}expr: (?:>-\n)?([\s\S]*?)\n {8}\w+:/gm)].map(([, expr = ""]) => expr),
] as string[];

const SERIES = /\b((?:headwater|process|nodejs)_[a-z0-9_]+)(?:\{([^}]*)\})?/g;
/** Labels that Prometheus adds, or the buckets of a histogram. */
const ADDED = ["job", "instance", "process", "le"];

interface Named {
  metric: string;
  labels: string[];
}

/** The metric that a query names, without what a histogram adds to its name. */
const metricOf = (series: string): string => {
  const base = series.replace(/_(bucket|count|sum)$/, "");
  return base.slice("headwater_".length) in CATALOGUE ? base : series;
};

const NAMED: Named[] = QUERIES.flatMap(query =>
  [...query.matchAll(SERIES)].map(([, series = "", selector = ""]) => ({
    metric: metricOf(series),
    labels: [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label),
  })),
);

const CODE = `export default { name: "Seen", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit(event.body); } };`;

const METRICS_TOKEN = "a-token-of-the-test";

describe("board and alerts", () => {
  let system: System;
  let exposed: string;

  before(async () => {
    const receiver = await startReceiver(200);
    system = await startSystem({ METRICS_TOKEN });
    const api = await system.user();
    const source = await api.createSource({ component_code: CODE });
    await api.subscribe(source.id, (await api.createWebhook(receiver.url)).id);
    await fetch(source.configured_props.http?.endpoint_url ?? "", { method: "POST", body: "1" });
    await until(() => receiver.requests.length === 1, { what: "a delivery" });
    const metrics = new URL("/metrics", system.baseUrl);
    exposed = await until(
      async () => {
        const { body } = await system.worker.metrics.expose();
        const all = `${await (await fetch(metrics, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })).text()}\n${body}`;
        // The reconciler's first pass ends a moment after the workers' start.
        return all.includes("headwater_sweep_age_seconds{") && all;
      },
      { what: "the reconciler's first pass" },
    );
    await receiver.close();
  });
  after(() => system.stop());

  it("name many metrics", () => {
    expect(NAMED.length).to.be.above(60);
    const unseen = Object.keys(CATALOGUE).filter(
      name => !NAMED.some(({ metric }) => metric === `headwater_${name}`),
    );
    expect(unseen, "metrics that nobody looks at").to.deep.equal([]);
  });

  it("name only metrics that /metrics shows after one event", () => {
    const missing = NAMED.filter(({ metric }) => !exposed.includes(`# TYPE ${metric} `));
    expect(missing).to.deep.equal([]);
  });

  it("select by labels that these metrics have", () => {
    const wrong = NAMED.filter(({ metric, labels }) => {
      const entry = CATALOGUE[metric.slice("headwater_".length) as keyof typeof CATALOGUE];
      const own: readonly string[] = entry?.labels ?? [];
      return labels.some(label => !own.includes(label) && !ADDED.includes(label));
    });
    expect(wrong).to.deep.equal([]);
  });

  it("find what the rules say must always be there", () => {
    const required = [...RULES.matchAll(/absent\((headwater_\w+)\)/g)].map(([, metric = ""]) => metric);
    expect(required).to.have.length.above(2);
    for (const metric of required) {
      expect(exposed, metric).to.match(new RegExp(`^${metric}(\\{[^}]*\\})? \\d`, "m"));
    }
  });

  it("are explained in docs/observability.md, each alert by its name", () => {
    const text = read("docs/observability.md");
    const alerts = [...RULES.matchAll(/alert: (\w+)/g)].map(([, name = ""]) => name);
    expect(alerts).to.have.length.above(15);
    expect(alerts.filter(name => !text.includes(`\`${name}\``))).to.deep.equal([]);
  });

  it("have panels with ids and places of their own", () => {
    const panels: { id: number; gridPos: { x: number; y: number; w: number } }[] = BOARD.panels;
    expect(new Set(panels.map(({ id }) => id)).size).to.equal(panels.length);
    expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).to.equal(panels.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).to.equal(true);
  });

  it("pass promtool's checks and the tests of the rules", async function () {
    const promtool = await programOrSkip(this, "prometheus", { names: ["promtool"] });
    for (const args of [
      ["check", "rules", "headwater.rules.yml"],
      ["check", "config", "prometheus.yml"],
      ["test", "rules", "headwater.test.yml"],
    ]) {
      const cwd = join(root, FOLDER);
      const { status, stdout, stderr } = spawnSync(promtool, args, { cwd, encoding: "utf8" });
      expect(status, `${args.join(" ")}\n${stdout}${stderr}`).to.equal(0);
    }
  });
});
