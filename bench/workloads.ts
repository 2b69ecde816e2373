import type { Ends } from "./ends.ts";
import { growDeliveries, growSources, growSubscriptions } from "./growth.ts";
import type { Headwater } from "./headwater.ts";
import { type Figures, type Load, measure } from "./measure.ts";
import type { InstalledPeer } from "./peers/install.ts";
import { measurePeer, type PeerRow } from "./peers/peers.ts";
import { type RawFront, startRaw } from "./raw.ts";
import type { Side } from "./side.ts";
import type { Stores } from "./stores.ts";
import type { Publish, Target } from "./targets.ts";
import { measureWaitlist } from "./waitlist.ts";

export type WorkloadName = "P1" | "P2" | "P3" | "W1" | "W2" | "W3" | "W4" | "W5" | "W6" | "W8";
/** W7 counts ticks instead of deliveries: `timers.ts`. */
export const ALL_WORKLOADS = ["P1", "P2", "P3", "W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8"] as const;

/** How events reach Headwater: over HTTP to the API, on its queue, or over HTTP to a source. */
export type Way = "publish" | "emissions" | "endpoint";

/** Whether other products can do the same: HTTP in, the user's code, and a POST. */
export const isComparedWithPeers = (name: string): boolean => name === "W4" || name === "W6";

/** One measurement of Headwater, with that of the raw limit right before it, if there is one, and those of peers after it. */
export interface Row {
  workload: WorkloadName;
  what: string;
  load: Load;
  ours: Figures;
  raw?: Figures;
  peers?: PeerRow[];
}

export interface Bench {
  headwater: Headwater;
  stores: Stores;
  ends: Ends;
  logFile: string;
  nodePath: string | undefined;
  senders: number;
  /** Replaces the workload's default. */
  events: number | undefined;
  raw: RawFront | "none";
  publish: Publish;
  /** Measured after Headwater where they can do the same. */
  peers?: InstalledPeer[];
  print: (line: string) => void;
}

const CODE = `export default { name: "Bench", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit(event.body); } };`;

/** Measures one workload; returns one row, or several for W5. */
export async function runWorkload(bench: Bench, name: WorkloadName): Promise<Row[]> {
  const { events, senders } = bench;
  const load = (count: number, webhooks: number): Load => ({ events: events ?? count, webhooks, senders });
  const byClock: Load = { ...load(3_000, 1), perSecond: 100 };
  switch (name) {
    case "P1":
      return [await compare(bench, name, "publish over HTTP", load(20_000, 1), "publish")];
    case "P2":
      return [await compare(bench, name, "the same, fan-out to 10", load(2_000, 10), "publish")];
    case "P3":
      return [await compare(bench, name, "the same, latency at 100/s", byClock, "publish")];
    case "W1":
      return [await compare(bench, name, "throughput", load(20_000, 1), "emissions")];
    case "W2":
      return [await compare(bench, name, "fan-out to 10", load(2_000, 10), "emissions")];
    case "W3":
      return [await compare(bench, name, "latency at 100/s", byClock, "emissions")];
    case "W4":
      return [await compare(bench, name, "HTTP, component", load(20_000, 1), "endpoint")];
    case "W5":
      return await growth(bench);
    case "W6":
      return [await compare(bench, name, "HTTP, component, latency at 100/s", byClock, "endpoint")];
    case "W8":
      return [await waitlist(bench, load(5_000, 1))];
  }
}

async function waitlist(bench: Bench, load: Load): Promise<Row> {
  const side = await setUp(bench, load, "publish");
  const what = "a waitlist, once the endpoint is quick";
  const ours = printed(bench, `W8 ${what}`, await measureWaitlist(side, load, bench.ends));
  return { workload: "W8", what, load, ours };
}

/** Measures the raw limit, then Headwater. W4 has the same raw limit as W1, which runs no component. */
async function compare(
  bench: Bench,
  workload: WorkloadName,
  what: string,
  load: Load,
  way: Way,
): Promise<Row> {
  const raw = await measureRaw(bench, `${workload} raw limit`, load);
  const side = await setUp(bench, load, way);
  const ours = await measureAndPrint(bench, `${workload} Headwater`, side, load);
  const peers = isComparedWithPeers(workload) ? await measurePeers(bench, workload, load) : [];
  return { workload, what, load, ours, ...(raw && { raw }), ...(peers.length > 0 && { peers }) };
}

/** A product that fails costs only its own row. */
async function measurePeers(bench: Bench, workload: WorkloadName, load: Load): Promise<PeerRow[]> {
  const rows: PeerRow[] = [];
  for (const peer of bench.peers ?? []) {
    try {
      const row = await measurePeer(peer, load, bench);
      printed(bench, `${workload} ${row.title}`, row.figures);
      rows.push(row);
    } catch (error) {
      bench.print(`${workload} ${peer.title} is left out: ${(error as Error).message}`);
    }
  }
  return rows;
}

async function measureRaw(bench: Bench, title: string, load: Load): Promise<Figures | undefined> {
  const { ends, stores, senders, raw: front, logFile, nodePath } = bench;
  if (front === "none") return undefined;
  const webhookUrls = webhookUrlsOf(bench, load);
  const raw = await startRaw({ folder: ends.folder, stores, webhookUrls, senders, front, logFile, nodePath });
  try {
    return await measureAndPrint(bench, title, raw, load);
  } finally {
    await raw.stop();
  }
}

async function growth(bench: Bench): Promise<Row[]> {
  const { stores } = bench;
  const load = { events: bench.events ?? 20_000, webhooks: 1, senders: bench.senders };
  const side = await setUp(bench, load, "emissions");
  const rows: Row[] = [];
  const row = async (what: string) => {
    const ours = await measureAndPrint(bench, `W5 ${what}`, side, load);
    rows.push({ workload: "W5", what, load, ours });
  };
  await row("as new");
  await growDeliveries(stores, 1_000_000);
  await row("+ 1,000,000 far retries");
  await growSubscriptions(stores, 100_000);
  await row("+ 100,000 subscriptions");
  await growSources(stores, 10_000);
  await row("+ 10,000 sources");
  return rows;
}

async function measureAndPrint(bench: Bench, title: string, side: Side, load: Load): Promise<Figures> {
  return printed(bench, title, await measure(side, load, bench.ends));
}

function printed(bench: Bench, title: string, figures: Figures): Figures {
  const { deliveredPerSecond, cpu, latencyMs, lost, doubled, strays, rejected } = figures;
  bench.print(
    `${title}: ${Math.round(deliveredPerSecond)} delivered/s, ${cpu.all.toFixed(2)} CPU s per 1,000, ` +
      `p50 ${latencyMs.p50.toFixed(1)} ms, p99 ${latencyMs.p99.toFixed(1)} ms, lost ${lost}, doubled ${doubled}`,
  );
  if (strays > 0) bench.print(`  ${strays} strays: deliveries of an earlier load, or of none`);
  for (const [reason, count] of Object.entries(rejected)) bench.print(`  ${count} rejected: ${reason}`);
  return figures;
}

/** Creates emitters with their webhooks; returns where to send its events, and what to watch. */
export async function setUp(bench: Bench, load: Load, way: Way): Promise<Side> {
  const { headwater, stores } = bench;
  const { emitterIds, target } = await (way === "publish"
    ? publishing(bench, load)
    : source(bench, load, way));
  for (const emitterId of emitterIds) {
    for (const url of webhookUrlsOf(bench, load)) {
      await headwater.api.subscribe(emitterId, (await headwater.api.createWebhook(url)).id);
    }
  }
  const watched = [...headwater.watched, ...stores.watched];
  return { target, stores, watched, whenIdle: headwater.whenIdle };
}

interface Emitting {
  emitterIds: string[];
  target: Target;
}

async function publishing({ headwater: { api } }: Bench, { senders, emitters = 1 }: Load): Promise<Emitting> {
  const emitterIds: string[] = [];
  for (let n = 0; n < emitters; n++) {
    const body = { name: `Bench ${n}` };
    emitterIds.push((await api.expect<{ id: string }>(201, "POST", "/workflows", { body })).id);
  }
  const urls = emitterIds.map(id => `${api.baseUrl}/workflows/${id}/events`);
  return { emitterIds, target: { kind: "publish", urls, apiKey: api.apiKey, connections: senders } };
}

async function source(
  { headwater: { api, redisPrefix }, stores, publish }: Bench,
  { senders }: Load,
  way: "emissions" | "endpoint",
): Promise<Emitting> {
  const { id, configured_props } = await api.createSource({ component_code: CODE });
  if (way === "emissions") {
    const { redisUrl } = stores;
    return { emitterIds: [id], target: { kind: "emissions", redisUrl, redisPrefix, emitterId: id, publish } };
  }
  const urls = [configured_props.http?.endpoint_url ?? ""];
  return { emitterIds: [id], target: { kind: "http", urls, connections: senders } };
}

const webhookUrlsOf = ({ ends }: Bench, { webhooks }: Load): string[] =>
  Array.from({ length: webhooks }, (_, number) => `${ends.receiverUrl}/${number}`);
