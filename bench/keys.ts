import { setTimeout as delay } from "node:timers/promises";
import { Cluster, type Redis } from "ioredis";
import { readLocalConfig } from "../src/config.ts";
import { findRedis } from "../src/store/connections/find-redis.ts";
import { openWorkerRedis, whenReady } from "../src/store/connections/redis.ts";
import { parse, positive, runEntry, settingOf, UsageError } from "./entry.ts";
import type { Headwater } from "./headwater.ts";
import { KeyUsage } from "./key-usage.ts";
import { monitor } from "./monitor.ts";
import { storesOfEnvironment } from "./stores.ts";
import { withHeadwater } from "./with-headwater.ts";

const HELP = `Usage: npm run bench:keys -- [options]

Shows which keys and queues each event touches, by slot of a Redis Cluster, as a table: every command of Redis' MONITOR,
those that scripts call too. MONITOR slows Redis down: read counts and shares, not rates.

Starts Headwater as in production on stores of its own, with so many emitters with a webhook each that are published to
over HTTP, and so many sources with a timer of a second:

  --emitters N     (default 20)
  --timers N       (default 10)
  --per-second N   published events a second, by the clock (default 100)
  --warm-up N      seconds before the reading (default 5)
  --seconds N      (default 20)
  --set NAME=VALUE a setting of Headwater, such as QUEUE_SHARDS=deliveries:4; may be repeated

Or reads an installation that runs:

  --redis URL      its REDIS_URL; --prefix NAME its REDIS_PREFIX (default headwater); --seconds N. Other settings of Redis'
                   come from the environment`;

const TIMER = `export default { name: "Timer", version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } } },
  run(event) { this.$emit({ at: event.timestamp }); } };`;

const DEADLINE_MS = 5000;

interface Load {
  emitters: number;
  timers: number;
  perSecond: number;
}

async function main(args: string[]): Promise<void> {
  const { values } = parse({
    args,
    options: {
      emitters: { type: "string", default: "20" },
      timers: { type: "string", default: "10" },
      "per-second": { type: "string", default: "100" },
      "warm-up": { type: "string", default: "5" },
      seconds: { type: "string", default: "20" },
      set: { type: "string", multiple: true, default: [] },
      redis: { type: "string" },
      prefix: { type: "string", default: "headwater" },
    },
  });
  const seconds = positive(values.seconds, "--seconds");
  if (values.redis !== undefined) {
    if (values.set.length > 0) throw new UsageError("--set is for an installation that this starts");
    return console.log(await readUsage(values.redis, values.prefix, seconds));
  }
  const load = {
    emitters: positive(values.emitters, "--emitters"),
    timers: positive(values.timers, "--timers"),
    perSecond: positive(values["per-second"], "--per-second"),
  };
  const warmUpMs = positive(values["warm-up"], "--warm-up") * 1000;
  const stores = storesOfEnvironment();
  const settings = Object.fromEntries(values.set.map(settingOf));
  await withHeadwater({ stores, settings }, async ({ headwater, ends }) => {
    const urls = await setUp(headwater, ends.receiverUrl, load);
    const stop = publish(headwater, urls, load.perSecond);
    await delay(warmUpMs);
    console.log(await readUsage(stores.redisUrl, headwater.redisPrefix, seconds));
    console.log(`\n${await stop()}`);
  });
}

/** Counts what an installation asks of Redis for so many seconds. */
async function readUsage(urls: string, prefix: string, seconds: number): Promise<string> {
  const target = await findRedis(readLocalConfig({ ...process.env, REDIS_URL: urls }).redis, DEADLINE_MS);
  const client = openWorkerRedis(target);
  await whenReady(client, DEADLINE_MS);
  const usage = new KeyUsage(prefix);
  const nodes: Redis[] = client instanceof Cluster ? client.nodes("master") : [client];
  const stops = await Promise.all(
    nodes.map(({ options, stream }) => {
      // Behind Sentinels only the connection knows where the master is.
      const { host = stream.remoteAddress ?? "", port = stream.remotePort ?? 0 } = options;
      return monitor({ ...target, host, port }, (args, isInside) => usage.count(args, isInside));
    }),
  );
  await delay(seconds * 1000);
  for (const stop of stops) stop();
  client.disconnect();
  return usage.report();
}

/** Creates emitters with a webhook each, and timers, which have one together; returns where to publish. */
async function setUp({ api }: Headwater, receiverUrl: string, { emitters, timers }: Load): Promise<string[]> {
  const urls: string[] = [];
  for (let n = 0; n < emitters; n++) {
    const { id } = await api.expect<{ id: string }>(201, "POST", "/workflows", {
      body: { name: `Keys ${n}` },
    });
    await api.subscribe(id, (await api.createWebhook(`${receiverUrl}/${n}`)).id);
    urls.push(`${api.baseUrl}/workflows/${id}/events`);
  }
  const webhook = await api.createWebhook(`${receiverUrl}/timers`);
  for (let n = 0; n < timers; n++) {
    const source = await api.createSource({ component_code: TIMER, configured_props: {} });
    await api.subscribe(source.id, webhook.id);
  }
  return urls;
}

/** Publishes by the clock; the returned function stops, and returns what was sent. */
function publish({ api }: Headwater, urls: string[], perSecond: number): () => Promise<string> {
  let isStopped = false;
  const responses = new Map<number, number>();
  const headers = { "content-type": "application/json", authorization: `Bearer ${api.apiKey}` };
  const send = async (n: number) => {
    const body = JSON.stringify({ event: { n, fill: "x".repeat(900) } });
    const { status } = await fetch(urls[n % urls.length] ?? "", { method: "POST", headers, body });
    responses.set(status, (responses.get(status) ?? 0) + 1);
  };
  const sent: Promise<void>[] = [];
  const sending = (async () => {
    const startedAt = performance.now();
    for (let n = 0; !isStopped; n++) {
      const waitMs = startedAt + (n * 1000) / perSecond - performance.now();
      if (waitMs > 0) await delay(waitMs);
      sent.push(send(n));
    }
  })();
  return async () => {
    isStopped = true;
    await sending;
    await Promise.all(sent);
    return `published: ${[...responses].map(([status, count]) => `${count} with ${status}`).join(", ")}`;
  };
}

await runEntry(HELP, main);
