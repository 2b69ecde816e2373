import { spawn } from "node:child_process";
import { join } from "node:path";
import { choosePort } from "../script/lib/ports.mjs";
import { createUser } from "../src/accounts/users.ts";
import { openPlatform } from "../src/platform.ts";
import { type CountingReceiver, startCountingReceiver } from "../test/faults/counting-receiver.ts";
import { Api } from "../test/support/api.ts";
import { root } from "../test/support/built.ts";
import { testConfig } from "../test/support/platform.ts";
import { openRedisNodes, type RedisNode } from "../test/support/redis-nodes.ts";
import { until } from "../test/support/until.ts";
import { environmentOf } from "../test/workers/worker-process.ts";
import { parse, positive, runEntry } from "./entry.ts";
import { machineLine, machineOf } from "./machine.ts";
import { startMeter, type Watched } from "./meter.ts";
import { table } from "./report.ts";
import { redisPid, storesOfEnvironment } from "./stores.ts";
import { quantile } from "./times.ts";

const HELP = `Usage: npm run bench:accept -- [options]

Measures what it costs to lose nothing at a failover (docs/decisions/0036-loss-at-failover.md): events that are published
over HTTP, one a request, to one webhook, with each setting, on one Redis with a replica and one MongoDB. A web process
and one of all workers for each setting; the settings are measured in turn, round by round.

  --rounds N     rounds of each setting (default 5)
  --events N     events of a round (default 1500)
  --base DIR     another built checkout, measured with its default settings in the same rounds`;

const CONNECTIONS = 16;
/** One after another, before those at once. */
const ALONE = 100;
const NO_REPLICAS_WANTED = { "min-replicas-to-write": "0" };

interface Variant {
  name: string;
  folder: string;
  settings: Record<string, string>;
  /** Options of Redis while it is measured. */
  redis?: Record<string, string>;
}

interface Installation {
  variant: Variant;
  watched: Watched[];
  url: string;
  apiKey: string;
  path: string;
  stop(): Promise<void>;
}

interface Round {
  perSecond: number;
  aloneP50: number;
  p50: number;
  p95: number;
  ours: number;
  redis: number;
  mongodb: number;
}

async function main(args: string[]): Promise<void> {
  const { values } = parse({
    args,
    options: {
      rounds: { type: "string", default: "5" },
      events: { type: "string", default: "1500" },
      base: { type: "string" },
    },
  });
  const rounds = positive(values.rounds, "--rounds");
  const events = positive(values.events, "--events");
  const stores = storesOfEnvironment();
  console.log(machineLine(machineOf(stores)));
  const variants: Variant[] = [
    ...(values.base === undefined ? [] : [{ name: "base", folder: values.base, settings: {} }]),
    { name: "default", folder: root, settings: {} },
    {
      name: "min-replicas-to-write 1",
      folder: root,
      settings: {},
      redis: { "min-replicas-to-write": "1", "min-replicas-max-lag": "2" },
    },
    { name: "DURABLE_INGRESS=replicas:1", folder: root, settings: { DURABLE_INGRESS: "replicas:1" } },
    { name: "DURABLE_INGRESS=mongodb", folder: root, settings: { DURABLE_INGRESS: "mongodb" } },
  ];
  const nodes = await openRedisNodes();
  const receiver = await startCountingReceiver({ react: () => ({ status: 200, afterMs: 0 }) });
  const opened: Installation[] = [];
  try {
    const [master, replica] = await Promise.all([nodes.server(), nodes.server()]);
    await replica.ask("REPLICAOF", "127.0.0.1", master.port);
    const isLinked = async () => /state=online/.test(String(await master.ask("INFO", "replication")));
    await until(isLinked, { what: "the replica" });
    const ofStores: Watched[] = [
      { name: "redis", group: "redis", pid: await redisPid(master) },
      { name: "replica", group: "redis", pid: await redisPid(replica) },
      { name: "mongod", group: "mongodb", pid: Number(process.env.BENCH_MONGODB_PID) },
    ];
    for (const variant of variants) opened.push(await install(variant, master.url, receiver));
    const measured = new Map<string, Round[]>(variants.map(({ name }) => [name, []]));
    // The first is a warm-up: the processes have only just started.
    for (let n = -1; n < rounds; n += 1) {
      for (const one of n % 2 === 0 ? opened : [...opened].reverse()) {
        const round = await measure(one, { master, receiver, ofStores, events });
        if (n >= 0) measured.get(one.variant.name)?.push(round);
      }
    }
    report(measured);
  } finally {
    await Promise.all(opened.map(one => one.stop()));
    await Promise.all([receiver.close(), nodes.close()]);
  }
}

async function install(
  variant: Variant,
  redisUrl: string,
  receiver: CountingReceiver,
): Promise<Installation> {
  const config = testConfig({ REDIS_URL: redisUrl });
  const platform = await openPlatform(config, "cli");
  const port = await choosePort(0);
  const url = `http://127.0.0.1:${port}`;
  const env = {
    ...{ PATH: process.env.PATH, ...environmentOf(config), PORT: String(port), PUBLIC_URL: url },
    ...{ RATE_LIMITS: "api:0", LOG_LEVEL: "warn", ...variant.settings },
  };
  const programs = ["dist/src/server.js", "dist/workers/all.js"];
  const children = programs.map(file => {
    return spawn(process.execPath, [join(variant.folder, file)], { env, stdio: "inherit" });
  });
  const { api_key } = await createUser(platform, { email: "bench@example.test", plan: "paid" });
  await until(async () => (await fetch(`${url}/readyz`)).ok, { what: "the web process" });
  const api = new Api(`${url}/v1`, api_key);
  const { id } = await api.expect(201, "POST", "/workflows", { body: { name: "bench" } });
  const path = `/${config.redisPrefix}`;
  await api.subscribe(id, (await api.createWebhook(receiver.urlOf(path))).id);
  return {
    ...{ variant, path, url: `${url}/v1/workflows/${id}/events`, apiKey: api_key },
    watched: children.map(({ pid = 0 }, i) => ({ name: programs[i] ?? "", group: "ours", pid })),
    async stop() {
      for (const child of children) child.kill("SIGKILL");
      await platform.mongo.dropDatabase();
      await platform.close();
    },
  };
}

interface Given {
  master: RedisNode;
  receiver: CountingReceiver;
  ofStores: Watched[];
  events: number;
}

async function measure(one: Installation, { master, receiver, ofStores, events }: Given): Promise<Round> {
  for (const [name, value] of Object.entries({ ...NO_REPLICAS_WANTED, ...one.variant.redis })) {
    await master.ask("CONFIG", "SET", name, value);
  }
  const arrived = () => receiver.at(one.path).size;
  const before = arrived();
  const times: number[] = [];
  const publish = async (n: number) => {
    const startedAt = performance.now();
    const response = await fetch(one.url, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${one.apiKey}` },
      body: JSON.stringify({ event: { key: `${before}-${n}`, text: "x".repeat(200) } }),
    });
    await response.arrayBuffer();
    if (response.status !== 202) throw new Error(`${one.variant.name}: status ${response.status}`);
    times.push(performance.now() - startedAt);
  };
  for (let n = 0; n < ALONE; n += 1) await publish(n);
  const alone = times.splice(0).sort((a, b) => a - b);
  const allArrived = (count: number) => until(() => arrived() - before >= count, { what: "all events" });
  await allArrived(ALONE);
  const readMeter = startMeter([...one.watched, ...ofStores]);
  const startedAt = performance.now();
  let next = ALONE;
  const sender = async () => {
    while (next < ALONE + events) await publish(next++);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sender));
  const seconds = (performance.now() - startedAt) / 1000;
  await allArrived(ALONE + events);
  const { processes } = readMeter();
  const cpuOf = (group: Watched["group"]) =>
    (processes.filter(each => each.group === group).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0) /
      events) *
    1000;
  times.sort((a, b) => a - b);
  return {
    ...{ perSecond: events / seconds, aloneP50: quantile(alone, 0.5) },
    ...{ p50: quantile(times, 0.5), p95: quantile(times, 0.95) },
    ...{ ours: cpuOf("ours"), redis: cpuOf("redis"), mongodb: cpuOf("mongodb") },
  };
}

function report(measured: Map<string, Round[]>): void {
  const median = (rounds: Round[], of: (round: Round) => number) =>
    quantile(
      rounds.map(of).sort((a, b) => a - b),
      0.5,
    );
  const rows = [...measured].map(([name, rounds]) => {
    const at = (of: (round: Round) => number, digits: number) => median(rounds, of).toFixed(digits);
    const all = (round: Round) => round.ours + round.redis + round.mongodb;
    return [
      ...[name, at(one => one.perSecond, 0), at(one => one.aloneP50, 1), at(one => one.p50, 1)],
      ...[at(one => one.p95, 1), at(one => one.ours, 2), at(one => one.redis, 2), at(one => one.mongodb, 2)],
      ...[at(all, 2), rounds.map(one => all(one).toFixed(2)).join(" ")],
    ];
  });
  const head = ["setting", "events/s", "alone p50 ms", "p50 ms", "p95 ms", "Headwater", "Redis", "MongoDB"];
  console.log(table([[...head, "all", "each round"], ...rows]));
}

await runEntry(HELP, main);
