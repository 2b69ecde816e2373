import mongoose from "mongoose";
import { pino } from "pino";
import type { Queued } from "../src/platform.ts";
import { openQueues } from "../src/queues/open-queues.ts";
import { runs } from "../src/queues/runs.ts";
import { removeScheduler, setScheduler } from "../src/sources/timer-scheduler.ts";
import { openProducerRedis, whenReady } from "../src/store/connections/redis.ts";
import { singleServer } from "../src/store/connections/redis-url.ts";
import { numbered } from "./growth.ts";
import type { Headwater } from "./headwater.ts";
import { descendantsOf, type Group, memoryMb, type Reading, startMeter, type Usage } from "./meter.ts";
import type { Stores } from "./stores.ts";
import { quantile } from "./times.ts";

/** `spread`: intervals that begin evenly over a minute; `same second`: all by the same cron pattern. */
export const TIMER_FORMS = ["spread", "same second"] as const;
export type TimerForm = (typeof TIMER_FORMS)[number];

export interface TimerLoad {
  sources: number;
  /** The sources are divided evenly between so many accounts, each with one component. */
  accounts: number;
  /** How long is measured, after one minute of warm-up. */
  minutes: number;
}

export interface TimerFigures {
  form: TimerForm;
  /** Ticks that were due while measured. */
  due: number;
  /** Those with exactly one run that succeeded. */
  ran: number;
  runsPerSecond: number;
  /** Milliseconds from the moment that was due until the component began. */
  latenessMs: { p50: number; p99: number; max: number };
  /** CPU seconds of a run; `all` is the sum of the others. */
  cpu: Record<"all" | "ours" | "redis" | "mongodb", number>;
  processes: Usage[];
  /** At the end: how many sandboxes there are, and the megabytes that they add to the machine. */
  sandboxes: { count: number; mb: number };
  elsewhere: number;
}

const MINUTE_MS = 60_000;
/** After this long without a further run, ticks that are missing count as not run. */
const STALL_MS = 20_000;
const POLL_MS = 500;

/** It emits one event at each tick, which has no listener, so that the figures include no deliveries. */
const CODE = `export default { name: "Timer", version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } } },
  run(event) { this.$emit({ at: event.timestamp }); } };`;

interface Ticking {
  _id: string;
  owner_id: string;
  component_id: string;
}

/** Runs timer sources for some minutes; their sources are removed afterwards. */
export async function measureTimers(
  { headwater, stores }: { headwater: Headwater; stores: Stores },
  form: TimerForm,
  load: TimerLoad,
): Promise<TimerFigures> {
  const mongo = await mongoose.createConnection(stores.mongodbUrl).asPromise();
  const redis = openProducerRedis(singleServer(stores.redisUrl));
  try {
    await whenReady(redis, 5000);
    const log = pino({ level: "warn" });
    const queues = await openQueues([runs], { redis, prefix: headwater.redisPrefix, log, deadlineMs: 5000 });
    const template = await createTemplate(headwater, mongo);
    const rows = timerRows(template, form, load);
    await copyAccounts(mongo, template, load);
    await startTicking({ queues } as unknown as Queued, mongo, rows, form);
    const figures = await measureMinutes({ headwater, stores, mongo }, rows, form, load);
    for (const { _id } of rows) await persist(() => removeScheduler({ queues } as unknown as Queued, _id));
    await mongo.collection("sources").deleteMany({ _id: { $in: rows.map(row => row._id) } } as never);
    await Promise.all([...queues.values()].map(queue => queue.close()));
    return figures;
  } finally {
    redis.disconnect();
    await mongo.close();
  }
}

/** Headwater itself creates one source, which is then copied, as W5's data. */
async function createTemplate({ api }: Headwater, mongo: mongoose.Connection): Promise<Ticking> {
  const source = await api.createSource({ component_code: CODE, configured_props: {} });
  const row = await mongo.collection("sources").findOne({ _id: source.id } as never);
  await api.request("DELETE", `/sources/${source.id}`);
  return row as never;
}

const timerOf = (form: TimerForm) =>
  form === "spread"
    ? { interval_seconds: 60, cron: null, timezone: null }
    : { interval_seconds: null, cron: "* * * * *", timezone: "UTC" };

function timerRows(template: Ticking, form: TimerForm, { sources, accounts }: TimerLoad) {
  const prefix = form === "spread" ? "dc_S" : "dc_T";
  return Array.from({ length: sources }, (_, number) => ({
    ...template,
    _id: `${prefix}${numbered("", number).slice(1)}`,
    name_slug: `timer-${prefix}${number}`,
    owner_id: numbered("u_", number % accounts),
    user_id: numbered("u_", number % accounts),
    component_id: numbered("sc_", number % accounts),
    timer: timerOf(form),
  }));
}

async function copyAccounts(
  mongo: mongoose.Connection,
  template: Ticking,
  { accounts }: TimerLoad,
): Promise<void> {
  const [users, components] = [mongo.collection("users"), mongo.collection("components")];
  const user = await users.findOne({ _id: template.owner_id } as never);
  const component = await components.findOne({ _id: template.component_id } as never);
  for (let number = 0; number < accounts; number++) {
    const _id = numbered("u_", number);
    const copy = { ...user, _id, email: `${_id}@example.test`, username: _id };
    await users.replaceOne({ _id } as never, copy as never, { upsert: true });
    const own = { ...component, _id: numbered("sc_", number), owner_id: _id, user_id: _id };
    await components.replaceOne({ _id: own._id } as never, own as never, { upsert: true });
  }
}

async function startTicking(
  platform: Parameters<typeof setScheduler>[0],
  mongo: mongoose.Connection,
  rows: ReturnType<typeof timerRows>,
  form: TimerForm,
): Promise<void> {
  const startedAt = performance.now();
  for (const [number, row] of rows.entries()) {
    const waitMs = form === "spread" ? startedAt + (number * MINUTE_MS) / rows.length - performance.now() : 0;
    if (waitMs > 0) await sleep(waitMs);
    await mongo.collection("sources").insertOne(row as never);
    await persist(() => setScheduler(platform, row, row.timer));
  }
}

const ATTEMPTS = 10;

/** Repeats what fails because a store of a busy machine was slow for once: the preparations take a minute. */
async function persist(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await sleep(500);
    }
  }
}

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

interface Measured {
  headwater: Headwater;
  stores: Stores;
  mongo: mongoose.Connection;
}

async function measureMinutes(
  { headwater, stores, mongo }: Measured,
  rows: Ticking[],
  form: TimerForm,
  { minutes }: TimerLoad,
): Promise<TimerFigures> {
  // All on the same second: the first wave starts everything cold, and the measurement starts just before the next.
  if (form === "same second") await sleep(2 * MINUTE_MS - (Date.now() % MINUTE_MS) - 2000);
  else await sleep(MINUTE_MS);
  const fromMs = Date.now();
  const toMs = fromMs + minutes * MINUTE_MS;
  const due = rows.length * minutes;
  const stopMeter = startMeter([...headwater.watched, ...stores.watched]);
  await sleep(toMs - Date.now());
  await whenRun(mongo, due, fromMs, toMs);
  const pids = headwater.watched.filter(one => one.children).flatMap(one => descendantsOf(one.pid));
  const mb = pids.reduce((sum, pid) => sum + memoryMb(pid).share, 0);
  const reading = stopMeter();
  return {
    ...figuresOf(await findRuns(mongo, fromMs, toMs), due, reading),
    form,
    sandboxes: { count: pids.length, mb },
  };
}

async function whenRun(mongo: mongoose.Connection, due: number, fromMs: number, toMs: number): Promise<void> {
  let last = -1;
  let changedAt = performance.now();
  while (performance.now() - changedAt < STALL_MS) {
    const found = (await findRuns(mongo, fromMs, toMs)).length;
    if (found >= due) return;
    if (found !== last) changedAt = performance.now();
    last = found;
    await sleep(POLL_MS);
  }
}

interface TimerRun {
  source_id: string;
  dueMs: number;
  begunMs: number;
  outcome: string;
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The id of a timer's run starts with the moment at which it was due (`src/runs/tick.ts`). */
const dueOf = (runId: string): number =>
  [...runId.slice(4, 11)].reduce((sum, char) => sum * 62 + ALPHABET.indexOf(char), 0);

async function findRuns(mongo: mongoose.Connection, fromMs: number, toMs: number): Promise<TimerRun[]> {
  const rows = await mongo
    .collection("runs")
    .find({ kind: "timer", finished_at: { $gte: new Date(fromMs) } })
    .project<{ _id: string; source_id: string; finished_at: Date; duration_ms: number; outcome: string }>({
      source_id: 1,
      finished_at: 1,
      duration_ms: 1,
      outcome: 1,
    })
    .toArray();
  return rows
    .map(({ _id, source_id, finished_at, duration_ms, outcome }) => ({
      source_id,
      outcome,
      dueMs: dueOf(_id),
      // Without the time for which it waited for its sandbox, which belongs to the lateness.
      begunMs: finished_at.getTime() - duration_ms,
    }))
    .filter(({ dueMs }) => dueMs >= fromMs && dueMs < toMs);
}

function figuresOf(found: TimerRun[], due: number, { processes, elsewhere }: Reading) {
  const lateness = found.map(({ begunMs, dueMs }) => begunMs - dueMs).sort((a, b) => a - b);
  const counts = new Map<string, number>();
  for (const { source_id, dueMs, outcome } of found) {
    if (outcome !== "ok") continue;
    const key = `${source_id} ${dueMs}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const cpu = (groups: Group[]) =>
    processes.filter(one => groups.includes(one.group)).reduce((sum, one) => sum + one.cpuSeconds, 0) /
    Math.max(1, found.length);
  const begun = found.map(run => run.begunMs);
  const spanMs = Math.max(1, Math.max(...begun) - Math.min(...begun));
  return {
    due,
    ran: [...counts.values()].filter(count => count === 1).length,
    runsPerSecond: (found.length * 1000) / spanMs,
    latenessMs: { p50: quantile(lateness, 0.5), p99: quantile(lateness, 0.99), max: lateness.at(-1) ?? 0 },
    cpu: {
      ours: cpu(["ours"]),
      redis: cpu(["redis"]),
      mongodb: cpu(["mongodb"]),
      all: cpu(["ours", "redis", "mongodb"]),
    },
    processes,
    elsewhere,
  };
}
