import type { Ends } from "./ends.ts";
import { growDelayed, growSources, growSubscriptions } from "./growth.ts";
import type { Headwater } from "./headwater.ts";
import { type Figures, type Load, measure } from "./measure.ts";
import { type RawFront, startRaw } from "./raw.ts";
import type { Side } from "./side.ts";
import type { Stores } from "./stores.ts";
import type { Publish, Target } from "./targets.ts";

export type WorkloadName = "W1" | "W2" | "W3" | "W4" | "W5";
export const ALL_WORKLOADS: WorkloadName[] = ["W1", "W2", "W3", "W4", "W5"];

/** One measurement of Headwater, with that of the raw limit right before it, if there is one. */
export interface Row {
  workload: WorkloadName;
  what: string;
  load: Load;
  ours: Figures;
  raw?: Figures;
}

export interface Bench {
  headwater: Headwater;
  stores: Stores;
  ends: Ends;
  logFile: string;
  senders: number;
  /** Replaces the workload's default. */
  events: number | undefined;
  raw: RawFront | "none";
  publish: Publish;
  print: (line: string) => void;
}

const CODE = `export default { name: "Bench", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit(event.body); } };`;

/** Measures one workload; returns one row, or several for W5. */
export async function runWorkload(bench: Bench, name: WorkloadName): Promise<Row[]> {
  const { events, senders } = bench;
  switch (name) {
    case "W1":
      return [await compare(bench, name, "throughput", { events: events ?? 20_000, webhooks: 1, senders })];
    case "W2":
      return [
        await compare(bench, name, "fan-out to 10", { events: events ?? 2_000, webhooks: 10, senders }),
      ];
    case "W3": {
      const load = { events: events ?? 3_000, webhooks: 1, senders, perSecond: 100 };
      return [await compare(bench, name, "latency at 100/s", load)];
    }
    case "W4":
      return [
        await compare(bench, name, "HTTP, component", { events: events ?? 20_000, webhooks: 1, senders }),
      ];
    case "W5":
      return await growth(bench);
  }
}

/** Measures the raw limit, then Headwater. W4 has the same raw limit as W1, which runs no component. */
async function compare(bench: Bench, workload: WorkloadName, what: string, load: Load): Promise<Row> {
  const raw = await measureRaw(bench, `${workload} raw limit`, load);
  const side = await setUp(bench, load, workload === "W4" ? "endpoint" : "emissions");
  const ours = await measureAndPrint(bench, `${workload} Headwater`, side, load);
  return { workload, what, load, ours, ...(raw && { raw }) };
}

async function measureRaw(bench: Bench, title: string, load: Load): Promise<Figures | undefined> {
  const { ends, stores, senders, raw: front, logFile } = bench;
  if (front === "none") return undefined;
  const webhookUrls = webhookUrlsOf(bench, load);
  const raw = await startRaw({ folder: ends.folder, stores, webhookUrls, senders, front, logFile });
  try {
    return await measureAndPrint(bench, title, raw, load);
  } finally {
    await raw.stop();
  }
}

async function growth(bench: Bench): Promise<Row[]> {
  const { stores, headwater } = bench;
  const load = { events: bench.events ?? 20_000, webhooks: 1, senders: bench.senders };
  const side = await setUp(bench, load, "emissions");
  const rows: Row[] = [];
  const row = async (what: string) => {
    const ours = await measureAndPrint(bench, `W5 ${what}`, side, load);
    rows.push({ workload: "W5", what, load, ours });
  };
  await row("as new");
  await growDelayed(stores, headwater.redisPrefix, 1_000_000);
  await row("+ 1,000,000 delayed");
  await growSubscriptions(stores, 100_000);
  await row("+ 100,000 subscriptions");
  await growSources(stores, 10_000);
  await row("+ 10,000 sources");
  return rows;
}

async function measureAndPrint(bench: Bench, title: string, side: Side, load: Load): Promise<Figures> {
  const figures = await measure(side, load, bench.ends);
  const { deliveredPerSecond, cpu, latencyMs, lost, doubled, strays, rejected } = figures;
  bench.print(
    `${title}: ${Math.round(deliveredPerSecond)} delivered/s, ${cpu.all.toFixed(2)} CPU s per 1,000, ` +
      `p50 ${latencyMs.p50.toFixed(1)} ms, p99 ${latencyMs.p99.toFixed(1)} ms, lost ${lost}, doubled ${doubled}`,
  );
  if (strays > 0) bench.print(`  ${strays} strays: deliveries of an earlier load, or of none`);
  for (const [reason, count] of Object.entries(rejected)) bench.print(`  ${count} rejected: ${reason}`);
  return figures;
}

/** Creates a source with its webhooks; returns where to send its events, and what to watch. */
async function setUp(bench: Bench, load: Load, through: "emissions" | "endpoint"): Promise<Side> {
  const { headwater, stores } = bench;
  const { api } = headwater;
  const source = await api.createSource({ component_code: CODE });
  for (const url of webhookUrlsOf(bench, load)) {
    await api.subscribe(source.id, (await api.createWebhook(url)).id);
  }
  const target: Target =
    through === "emissions"
      ? {
          kind: "emissions",
          redisUrl: stores.redisUrl,
          redisPrefix: headwater.redisPrefix,
          emitterId: source.id,
          publish: bench.publish,
        }
      : { kind: "http", urls: [source.configured_props.http?.endpoint_url ?? ""], connections: load.senders };
  return { target, watched: [...headwater.watched, ...stores.watched], whenIdle: headwater.whenIdle };
}

const webhookUrlsOf = ({ ends }: Bench, { webhooks }: Load): string[] =>
  Array.from({ length: webhooks }, (_, number) => `${ends.receiverUrl}/${number}`);
