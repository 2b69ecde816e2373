import { writeFileSync } from "node:fs";
import { Redis } from "ioredis";
import mongoose from "mongoose";
import { SIZES } from "./capacity/constants.ts";
import { plan } from "./capacity/model.ts";
import { DEFAULTS, parseBytes } from "./capacity/options.ts";
import { parse, positive, runEntry } from "./entry.ts";
import { machineLine, machineOf } from "./machine.ts";
import { measure } from "./measure.ts";
import { table } from "./report.ts";
import { type Stores, storesOfEnvironment } from "./stores.ts";
import { withHeadwater } from "./with-headwater.ts";
import { type Bench, setUp } from "./workloads.ts";

const HELP = `Usage: npm run bench -- capacity [options]

Publishes events at a steady rate, and compares what the processes, Redis and MongoDB used for them with what
npm run capacity says (docs/scaling.md#capacity). Afterwards it stops emissions and deliveries, publishes some more, and
measures what each event that waits takes of Redis.

  --events N       events a second (default 100)
  --fan-out N      webhooks (default 2)
  --payload SIZE   of each event, such as 2kb; up to 64kb (default 1kb)
  --seconds N      (default 30)
  --json FILE      writes all figures as JSON`;

/** Events that are published while nothing handles them. */
const WAITING = 2000;
const MB = 2 ** 20;

async function main(args: string[]): Promise<void> {
  const { values } = parse({
    args,
    options: {
      events: { type: "string", default: "100" },
      "fan-out": { type: "string", default: "2" },
      payload: { type: "string", default: "1kb" },
      seconds: { type: "string", default: "30" },
      json: { type: "string" },
    },
  });
  const perSecond = positive(values.events, "--events");
  const webhooks = positive(values["fan-out"], "--fan-out");
  const seconds = positive(values.seconds, "--seconds");
  const bytes = parseBytes(values.payload, "--payload", 65_536);
  const stores = storesOfEnvironment();
  const machine = machineOf(stores);
  console.log(machineLine(machine));
  const figures = await withHeadwater({ stores, settings: {} }, async ({ headwater, ends, logFile }) => {
    const bench: Bench = {
      ...{ headwater, stores, ends, logFile, nodePath: undefined, senders: 64, events: undefined },
      ...{ raw: "none", publish: "batched", print: console.log },
    };
    const load = { events: perSecond * seconds, webhooks, senders: 64, perSecond, bytes };
    const side = await setUp(bench, load, "publish");
    const before = await readStores(stores);
    const measured = await measure(side, load, ends);
    // What the warm-up left counts too.
    const after = await readStores(stores);
    const stored = { events: after.events - before.events, deliveries: after.deliveries - before.deliveries };
    const waitingBytes = await measureWaiting({ side, ends, stores, bytes, webhooks }, headwater.watched);
    return { measured, before, after, stored, waitingBytes };
  });
  report({ perSecond, webhooks, seconds, bytes }, figures);
  if (values.json) writeFileSync(values.json, `${JSON.stringify({ machine, args, ...figures }, null, 2)}\n`);
}

interface StoreFigures {
  events: number;
  deliveries: number;
  /** Bytes, by collection. */
  data: Record<string, number>;
  index: Record<string, number>;
  redisBytes: number;
  redisTraffic: number;
  mongodbTraffic: number;
}

async function readStores(stores: Stores): Promise<StoreFigures> {
  const redis = new Redis(stores.redisUrl);
  const mongo = await mongoose.createConnection(stores.mongodbUrl).asPromise();
  try {
    const info = await redis.info();
    const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0);
    const status = await mongo.db?.admin().command({ serverStatus: 1 });
    const rows = async (name: string) => (await mongo.db?.command({ collStats: name })) ?? {};
    const [events, deliveries] = await Promise.all([rows("events"), rows("deliveries")]);
    return {
      ...{ events: events.count ?? 0, deliveries: deliveries.count ?? 0 },
      data: { events: events.size ?? 0, deliveries: deliveries.size ?? 0 },
      index: { events: events.totalIndexSize ?? 0, deliveries: deliveries.totalIndexSize ?? 0 },
      redisBytes: field("used_memory"),
      redisTraffic: field("total_net_input_bytes") + field("total_net_output_bytes"),
      mongodbTraffic: Number(status?.network.bytesIn ?? 0) + Number(status?.network.bytesOut ?? 0),
    };
  } finally {
    redis.disconnect();
    await mongo.close();
  }
}

type Watching = Parameters<typeof measure>[0]["watched"];

/** Bytes of Redis that an event takes while it waits for its first attempts. */
async function measureWaiting(
  given: {
    side: Parameters<typeof measure>[0];
    ends: Parameters<typeof measure>[2];
    stores: Stores;
    bytes: number;
    webhooks: number;
  },
  watched: Watching,
): Promise<number> {
  const pids = watched.filter(({ name }) => ["emissions", "deliveries"].includes(name)).map(({ pid }) => pid);
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  try {
    const before = await readStores(given.stores);
    const request = {
      target: given.side.target,
      load: 9999,
      events: WAITING,
      senders: 64,
      bytes: given.bytes,
    };
    await given.ends.sender.request(request);
    const after = await readStores(given.stores);
    return (after.redisBytes - before.redisBytes) / WAITING;
  } finally {
    for (const pid of pids) process.kill(pid, "SIGCONT");
  }
}

function report(
  { perSecond, webhooks, seconds, bytes }: Record<"perSecond" | "webhooks" | "seconds" | "bytes", number>,
  {
    measured,
    before,
    after,
    stored,
    waitingBytes,
  }: {
    measured: Awaited<ReturnType<typeof measure>>;
    before: StoreFigures;
    after: StoreFigures;
    stored: { events: number; deliveries: number };
    waitingBytes: number;
  },
): void {
  const model = plan({
    ...DEFAULTS,
    way: "publish",
    events: perSecond,
    fanOut: webhooks,
    payloadBytes: bytes,
    attempts: 1,
  });
  const cores = (name: string) =>
    (measured.processes.find(one => one.name === name)?.cpuSeconds ?? 0) / seconds;
  const grown = (key: "data" | "index", name: string) => (after[key][name] ?? 0) - (before[key][name] ?? 0);
  const each = {
    eventData: grown("data", "events") / stored.events - bytes,
    deliveryData: grown("data", "deliveries") / stored.deliveries,
    eventIndex: grown("index", "events") / stored.events,
    deliveryIndex: grown("index", "deliveries") / stored.deliveries,
    redisTraffic: (after.redisTraffic - before.redisTraffic) / stored.events,
    mongodbTraffic: (after.mongodbTraffic - before.mongodbTraffic) / stored.events,
  };
  const row = (what: string, is: number, says: number, digits = 2) => [
    what,
    is.toFixed(digits),
    says.toFixed(digits),
    says === 0 ? "" : `${((is / says) * 100).toFixed(0)} %`,
  ];
  const per = 86_400 * DEFAULTS.retentionDays;
  const rows = [
    ["", "measured", "model", "measured / model"],
    ...(["web", "emissions", "deliveries"] as const).map(name =>
      row(`cores of ${name}`, cores(name), model.processes[name].cores),
    ),
    row("cores of Redis", cores("Redis"), model.redis.cores),
    row("cores of MongoDB", cores("MongoDB"), model.mongodb.cores),
    row(
      "MongoDB data, GB in 30 days",
      (((grown("data", "events") + grown("data", "deliveries")) / stored.events) * perSecond * per) / 2 ** 30,
      model.mongodb.dataGb,
      0,
    ),
    row(
      "MongoDB indexes, GB in 30 days",
      (((grown("index", "events") + grown("index", "deliveries")) / stored.events) * perSecond * per) /
        2 ** 30,
      model.mongodb.indexGb,
      0,
    ),
    row("Redis, Mbit/s", (each.redisTraffic * perSecond * 8) / 1e6, model.network.redis),
    row("MongoDB, Mbit/s", (each.mongodbTraffic * perSecond * 8) / 1e6, model.network.mongodb),
    row("Redis, bytes of an event that waits", waitingBytes, bytes + SIZES.redisWaitingEventBytes, 0),
  ];
  console.log(
    `${measured.delivered} delivered, ${measured.lost} lost, others used ${(measured.elsewhere * 100).toFixed(0)} % of the machine\n`,
  );
  console.log(table(rows));
  console.log(
    `\nbytes: ${Object.entries(each)
      .map(([name, value]) => `${name} ${value.toFixed(0)}`)
      .join(", ")}`,
  );
  console.log(
    `Redis in use: ${(before.redisBytes / MB).toFixed(1)} MB before, ${(after.redisBytes / MB).toFixed(1)} MB after`,
  );
}

await runEntry(HELP, main);
