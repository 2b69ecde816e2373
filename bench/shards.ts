import { queuePrefix } from "../src/queues/open-queues.ts";
import { shardName } from "../src/queues/shards.ts";
import { openRedisCluster, type RedisCluster } from "../test/support/redis-cluster.ts";
import { parse, positive, runEntry, settingOf } from "./entry.ts";
import { machineLine, machineOf } from "./machine.ts";
import { type Load, measure } from "./measure.ts";
import type { Watched } from "./meter.ts";
import { type ShardRound, shardReport } from "./shard-report.ts";
import type { Side } from "./side.ts";
import { slotOf } from "./slot.ts";
import { redisPid, type Stores, storesOfEnvironment } from "./stores.ts";
import { withHeadwater } from "./with-headwater.ts";
import { type Bench, setUp } from "./workloads.ts";

const HELP = `Usage: npm run bench:shards -- [options]

Measures what QUEUE_SHARDS buys and costs: the processor time of each master of a Redis Cluster, with one shard of each
queue and with several, in turn, round by round, under the same load: events published over HTTP to many workflows
with a webhook each, by the clock and then as fast as they are accepted. Each setting of each round has a new cluster, a
new database and new processes.

Processor time is in seconds for 1,000 events, of whole processes (/proc). The rates are computed from it: that at which
the hottest master would use 60 % of a core, and that at which all would if they had the same to do. On which master a
queue lands depends on REDIS_PREFIX: it is printed first.

  --shards N       of each queue, beside 1 (default 4)
  --masters N      of the cluster, without replicas (default 3)
  --rounds N       (default 3)
  --workflows N    (default 100)
  --per-second N   events a second by the clock (default 100)
  --seconds N      for so long (default 30)
  --events N       events as fast as they are accepted, from 64 senders (default 20000)
  --set NAME=VALUE a setting of Headwater, such as REDIS_PREFIX=other; may be repeated`;

const QUEUES = ["emissions", "deliveries", "runs"];
const SENDERS = 64;
/** On a busy machine a server may be silent for seconds. */
const AWAY_MS = 15_000;

async function main(args: string[]): Promise<void> {
  const { values } = parse({
    args,
    options: {
      shards: { type: "string", default: "4" },
      masters: { type: "string", default: "3" },
      rounds: { type: "string", default: "3" },
      workflows: { type: "string", default: "100" },
      "per-second": { type: "string", default: "100" },
      seconds: { type: "string", default: "30" },
      events: { type: "string", default: "20000" },
      set: { type: "string", multiple: true, default: [] },
    },
  });
  const shards = positive(values.shards, "--shards");
  const masters = positive(values.masters, "--masters");
  const rounds = positive(values.rounds, "--rounds");
  const perSecond = positive(values["per-second"], "--per-second");
  const seconds = positive(values.seconds, "--seconds");
  const common = {
    ...{ webhooks: 1, senders: SENDERS, emitters: positive(values.workflows, "--workflows") },
    isCounted: true,
  };
  const loads = new Map<string, Load>([
    [`${perSecond} events a second`, { ...common, events: perSecond * seconds, perSecond }],
    ["as fast as they are accepted", { ...common, events: positive(values.events, "--events") }],
  ]);
  const settings = Object.fromEntries(values.set.map(settingOf));
  const own = storesOfEnvironment();
  console.log(machineLine(machineOf(own)));
  const measured: ShardRound[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const count of [1, shards]) {
      const QUEUE_SHARDS = QUEUES.map(queue => `${queue}:${count}`).join(",");
      const name = `shards-${count}-${round}`;
      const given = { own, name, masters, settings: { ...settings, QUEUE_SHARDS } };
      measured.push(...(await measureOn(given, count, loads)));
    }
  }
  console.log(`\n${shardReport(measured)}`);
  const lost = measured.reduce((sum, { figures }) => sum + figures.lost, 0);
  if (lost > 0) throw new Error(`${lost} events were lost`);
}

interface Given {
  own: Stores;
  /** Of the database. */
  name: string;
  masters: number;
  settings: Record<string, string>;
}

/** Measures the loads with one setting, on a cluster and a database that exist for this only. */
async function measureOn(
  { own, name, masters, settings }: Given,
  shards: number,
  loads: Map<string, Load>,
): Promise<ShardRound[]> {
  const cluster = await openRedisCluster({ masters, replicas: 0, nodeTimeoutMs: AWAY_MS });
  try {
    const mongodbUrl = new URL(own.mongodbUrl);
    mongodbUrl.pathname = `/${name}`;
    const nodes = cluster.nodes.map(async (node, n): Promise<Watched> => {
      return { name: `master ${n + 1}`, group: "redis", pid: await redisPid(node) };
    });
    const stores: Stores = {
      mongodbUrl: mongodbUrl.href,
      redisUrl: cluster.url,
      watched: [...own.watched.filter(({ group }) => group === "mongodb"), ...(await Promise.all(nodes))],
    };
    return await withHeadwater({ stores, settings }, async ({ headwater, ends, logFile }) => {
      console.log(`\n${name}: ${await placesOf(cluster, headwater.redisPrefix, shards)}`);
      const bench: Bench = {
        ...{ headwater, stores, ends, logFile, nodePath: undefined, senders: SENDERS, events: undefined },
        ...{ raw: "none", publish: "batched", print: console.log },
      };
      let side: Side | undefined;
      const rounds: ShardRound[] = [];
      for (const [what, load] of loads) {
        side ??= await setUp(bench, load, "publish");
        const figures = await measure(side, load, ends);
        const { acceptedPerSecond, deliveredPerSecond, delivered, lost, rejected } = figures;
        console.log(
          `  ${what}: ${Math.round(acceptedPerSecond)} accepted/s, ${Math.round(deliveredPerSecond)} delivered/s, ` +
            `${delivered} delivered, ${lost} lost`,
        );
        for (const [reason, count] of Object.entries(rejected)) console.log(`  ${count} rejected: ${reason}`);
        rounds.push({ load: what, shards, figures });
      }
      return rounds;
    });
  } finally {
    await cluster.close();
  }
}

/** Says which master has which shards. */
async function placesOf(cluster: RedisCluster, prefix: string, shards: number): Promise<string> {
  const [first] = cluster.nodes;
  const ranges = (await first?.ask("CLUSTER", "SLOTS")) as [number, number, [string, number]][];
  const names = QUEUES.flatMap(queue => Array.from({ length: shards }, (_, n) => shardName(queue, n)));
  const isAt = (port: number, name: string) => {
    const slot = slotOf(queuePrefix(prefix, name));
    return ranges.some(([from, to, [, at]]) => at === port && from <= slot && slot <= to);
  };
  return cluster.nodes
    .map(({ port }, n) => `master ${n + 1} ${names.filter(name => isAt(port, name)).join(", ") || "none"}`)
    .join("; ");
}

await runEntry(HELP, main);
