import { createHmac } from "node:crypto";
import { Agent, request } from "node:http";
import { parse, positive, runEntry } from "./entry.ts";
import type { Headwater } from "./headwater.ts";
import { machineLine, machineOf } from "./machine.ts";
import { startMeter } from "./meter.ts";
import { table } from "./report.ts";
import { storesOfEnvironment } from "./stores.ts";
import { quantile } from "./times.ts";
import { withHeadwater } from "./with-headwater.ts";

const HELP = `Usage: npm run bench:verify -- [options]

What it costs to verify requests: the processor time of the web process, and of everything until the last run has ended, for a source
that verifies nothing, the same source with GitHub's rule and right signatures, and with forged ones, in turn. Processes as in
production, on stores of their own.

  --requests N   of each kind and round (default 10000)
  --rounds N     how often each kind has its turn; the medians are printed (default 4)
  --bytes N      of each body (default 1024)`;

const SECRET = "the secret that GitHub has, too";
const CONNECTIONS = 16;
const CODE = `export default { name: "Bench", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit(event.body); } };`;

const KINDS = ["not verified", "verified", "forged"] as const;
type Kind = (typeof KINDS)[number];
/** The status that every request of a kind has. */
const STATUS: Record<Kind, number> = { "not verified": 200, verified: 200, forged: 401 };

interface Cost {
  /** Milliseconds of processor time a request. */
  web: number;
  all: number;
  perSecond: number;
}

async function main(args: string[]): Promise<void> {
  const { values } = parse({
    args,
    options: {
      requests: { type: "string", default: "10000" },
      rounds: { type: "string", default: "4" },
      bytes: { type: "string", default: "1024" },
    },
  });
  const requests = positive(values.requests, "--requests");
  const rounds = positive(values.rounds, "--rounds");
  const body = Buffer.from(JSON.stringify({ text: "x".repeat(positive(values.bytes, "--bytes")) }));
  const stores = storesOfEnvironment();
  console.log(machineLine(machineOf(stores)));
  const costs = await withHeadwater({ stores, settings: {} }, async ({ headwater }) => {
    const watched = [...headwater.watched, ...stores.watched];
    const sides = new Map<Kind, Side>();
    for (const kind of KINDS) sides.set(kind, await sideOf(headwater, kind, body));
    // Warms up the web process, its connections and the sandbox.
    for (const side of sides.values()) await send(side, requests / 10);
    const measured = new Map<Kind, Cost[]>(KINDS.map(kind => [kind, []]));
    for (let round = 0; round < rounds; round++) {
      // There and back, so that what one kind leaves to be done is not always on the account of the same other.
      const order = round % 2 === 0 ? [...sides] : [...sides].reverse();
      for (const [kind, side] of order) {
        await headwater.whenIdle();
        const stop = startMeter(watched);
        const startedAt = performance.now();
        await send(side, requests);
        const seconds = (performance.now() - startedAt) / 1000;
        await headwater.whenIdle();
        const { processes } = stop();
        const spent = (wanted: (name: string) => boolean) =>
          processes.reduce((sum, { name, cpuSeconds }) => sum + (wanted(name) ? cpuSeconds : 0), 0) * 1000;
        measured.get(kind)?.push({
          web: spent(name => name === "web") / requests,
          all: spent(() => true) / requests,
          perSecond: requests / seconds,
        });
      }
    }
    return measured;
  });
  const median = (kind: Kind, of: keyof Cost) => {
    const sorted = (costs.get(kind) ?? []).map(cost => cost[of]).sort((a, b) => a - b);
    return quantile(sorted, 0.5);
  };
  const ratio = (kind: Kind) =>
    `${((median(kind, "all") / median("not verified", "all")) * 100).toFixed(0)} %`;
  const rows = KINDS.map(kind => [
    kind,
    median(kind, "web").toFixed(3),
    median(kind, "all").toFixed(3),
    ratio(kind),
    Math.round(median(kind, "perSecond")).toLocaleString("en"),
  ]);
  console.log(table([["", "web, CPU ms a request", "all", "of not verified", "requests/s"], ...rows]));
}

/** Where requests of a kind go, with what they carry. */
interface Side {
  url: URL;
  headers: Record<string, string>;
  body: Buffer;
  status: number;
}

async function sideOf({ api }: Headwater, kind: Kind, body: Buffer): Promise<Side> {
  const verify = kind === "not verified" ? {} : { verify: { preset: "github", secrets: [SECRET] } };
  const source = await api.createSource({ component_code: CODE, ...verify });
  const key = kind === "forged" ? "another secret" : SECRET;
  const signature = `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
  return {
    url: new URL(source.configured_props.http?.endpoint_url ?? ""),
    headers: { "content-type": "application/json", "x-hub-signature-256": signature },
    body,
    status: STATUS[kind],
  };
}

/** Sends so many requests over a few connections. Throws if one has another status than it should. */
async function send(side: Side, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let left = count;
  const one = async () => {
    while (left-- > 0) {
      const status = await statusOf(agent, side);
      if (status !== side.status) throw new Error(`a response of ${status}, not ${side.status}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, one));
  } finally {
    agent.destroy();
  }
}

function statusOf(agent: Agent, { url, headers, body }: Side): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      agent,
      method: "POST",
      headers: { ...headers, "content-length": body.length },
    });
    sent.once("error", reject).once("response", response => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
    });
    sent.end(body);
  });
}

await runEntry(HELP, main);
