import { LIMITS } from "../../src/limits/catalogue.ts";
import { mongoPool } from "../../src/store/connections/mongo-pool.ts";
import { type Measured, type Role, SIZES, WORKLOADS } from "./constants.ts";

/** How events come in: published over HTTP or through a workflow engine's queue, to HTTP sources, or from timers. */
export type Way = "publish" | "queue" | "source" | "timer";

/** What an installation is to carry. */
export interface Demand {
  way: Way;
  /** Events a second, at the busiest time. */
  events: number;
  /** Webhooks that receive each event, on average. */
  fanOut: number;
  payloadBytes: number;
  /** How long events and deliveries have been kept for when MongoDB's size is asked for. */
  retentionDays: number;
  /** Attempts a delivery takes, on average. */
  attempts: number;
  /** How long endpoints take to respond. */
  latencyMs: number;
  /** How long a component runs; only for sources. Processor time and time are taken for the same. */
  runMs: number;
  /** Emitters that emitted within a day. */
  emitters: number;
  /** How long workers may be away while events are still accepted. Seconds. */
  backlogSeconds: number;
  /** The share of a core that a process is planned to use, so that it keeps up with peaks. */
  load: number;
}

export interface ProcessPlan {
  count: number;
  /** Cores that all of them use together at this rate. */
  cores: number;
  memoryMb: number;
}

export interface Plan {
  processes: Record<"web" | "runs" | "emissions" | "deliveries" | "deletions", ProcessPlan>;
  /** Cores of Headwater's processes together. */
  cores: number;
  memoryMb: number;
  redis: { cores: number; memoryMb: number; backlogMb: number /** Each one core. */; masters: number };
  mongodb: { cores: number; dataGb: number; indexGb: number; connections: number };
  /** Megabits a second. */
  network: { in: number; out: number; redis: number; mongodb: number };
  /** What has to be changed, or can't be kept, at this size. */
  walls: string[];
}

/** The measurement of each way as fast as it went, and of the same at 100 events a second. */
const OF_WAY: Record<Way, { fast: Measured; slow: Measured }> = {
  publish: { fast: WORKLOADS.P1, slow: WORKLOADS.P3 },
  queue: { fast: WORKLOADS.W1, slow: WORKLOADS.W3 },
  source: { fast: WORKLOADS.W4, slow: WORKLOADS.W6 },
  timer: { fast: WORKLOADS.W7, slow: WORKLOADS.W7 },
};

/** Cores that a role used while it was measured. */
const coresOf = ({ cpuSeconds, events, perSecond }: Measured, role: Role): number =>
  (cpuSeconds[role] / events) * perSecond;

/** Seconds of a core that each delivery beyond the first of an event takes. */
function furtherDelivery(role: Role): number {
  const perEvent = ({ cpuSeconds, events }: Measured) => cpuSeconds[role] / events;
  const further = WORKLOADS.P2.webhooks - WORKLOADS.P1.webhooks;
  return Math.max(0, perEvent(WORKLOADS.P2) - perEvent(WORKLOADS.P1)) / further;
}

/**
 * Cores that one process of a role uses for so many events a second. Few events cost more each, because nothing can be
 * batched: in between, cores grow in a straight line from what was measured at 100 a second to what was measured at full
 * speed, and above that as fast as the events.
 */
export function coresAt(role: Role, way: Way, perSecond: number): number {
  const { fast, slow } = OF_WAY[way];
  const atSlow = coresOf(slow, role);
  if (perSecond <= slow.perSecond) return (atSlow * perSecond) / slow.perSecond;
  const atFast = Math.max(atSlow, coresOf(fast, role));
  if (perSecond >= fast.perSecond) return (atFast * perSecond) / fast.perSecond;
  const part = (perSecond - slow.perSecond) / (fast.perSecond - slow.perSecond);
  return atSlow + part * (atFast - atSlow);
}

/** Cores of one process for its share of the demand. */
function coresFor(role: Role, { way, events, fanOut, attempts }: Demand, share: number): number {
  const perSecond = events * share;
  // Timers were measured without a listener, so each delivery counts as a further one.
  const measured = OF_WAY[way].fast.webhooks;
  const further = (fanOut * attempts - measured) * perSecond * furtherDelivery(role);
  return Math.max(0, coresAt(role, way, perSecond) + further);
}

/** Cores that components use in their sandboxes, which are processes of their own. */
const computing = ({ way, events, runMs }: Demand): number =>
  way === "source" || way === "timer" ? (events * runMs) / 1000 : 0;

/** Returns how many processes a role needs so that none uses more of a core than planned, and what they use together. */
function processesFor(
  role: "web" | "runs" | "emissions" | "deliveries" | "deletions",
  demand: Demand,
): ProcessPlan {
  let count = Math.max(1, leastOf(role, demand));
  while (coresFor(role, demand, 1 / count) > demand.load && count < MOST_PROCESSES) count += 1;
  return {
    count,
    cores: count * coresFor(role, demand, 1 / count) + (role === "runs" ? computing(demand) : 0),
    memoryMb: count * memoryOf(role, demand, count),
  };
}

/** The model says nothing about more; and a search has an end. */
const MOST_PROCESSES = 10_000;

/** What a process may have in progress sets a bound too, however little it computes. */
function leastOf(role: string, demand: Demand): number {
  const { events, fanOut, attempts, latencyMs, load } = demand;
  if (role === "deliveries") {
    const inFlight = (events * fanOut * attempts * latencyMs) / 1000;
    return Math.ceil(inFlight / (LIMITS.attemptsInFlight.value * load));
  }
  return role === "runs" ? Math.ceil(computing(demand) / (LIMITS.sandboxes.value * load)) : 1;
}

function memoryOf(
  role: "web" | "runs" | "emissions" | "deliveries" | "deletions",
  demand: Demand,
  count: number,
): number {
  const own = SIZES.processMb[role];
  if (role !== "runs" || demand.way === "publish" || demand.way === "queue") return own;
  const sandboxes = Math.min(LIMITS.sandboxes.value, Math.ceil(demand.emitters / count));
  return own + sandboxes * SIZES.sandboxMb;
}

/** Plans an installation for a demand (docs/scaling.md#capacity). */
export function plan(demand: Demand): Plan {
  const { events, fanOut, attempts, payloadBytes, retentionDays, emitters, backlogSeconds, load } = demand;
  const roles = ["web", "runs", "emissions", "deliveries", "deletions"] as const;
  const processes = Object.fromEntries(
    roles.map(role => [role, processesFor(role, demand)]),
  ) as Plan["processes"];
  const all = Object.values(processes);
  const sum = (key: "count" | "cores" | "memoryMb") => all.reduce((total, one) => total + one[key], 0);

  const redisCores = coresFor("redis", demand, 1);
  const backlogMb = (events * backlogSeconds * (payloadBytes + SIZES.redisWaitingEventBytes)) / MB;
  const kept = fanOut > 0 || payloadBytes > SUMMARY_BYTES ? events * 86_400 * retentionDays : 0;
  const stored = (each: { event: number; delivery: number }, payload: number) =>
    (kept * (each.event + payload) + kept * fanOut * each.delivery) / GB;
  const deliveries = events * fanOut * attempts;

  const result: Plan = {
    processes,
    cores: sum("cores"),
    memoryMb: sum("memoryMb"),
    redis: {
      cores: redisCores,
      memoryMb: (SIZES.redisIdleMb + (emitters * SIZES.redisEmitterKb) / 1024 + backlogMb) / REDIS_FULL,
      backlogMb,
      masters: Math.max(1, Math.ceil(redisCores / load)),
    },
    mongodb: {
      cores: coresFor("mongodb", demand, 1),
      dataGb: stored(SIZES.mongodbData, payloadBytes),
      indexGb: stored(SIZES.mongodbIndex, 0),
      connections: roles.reduce((total, role) => total + processes[role].count * poolOf(role), 0),
    },
    network: {
      in: megabits(events * (payloadBytes + SIZES.requestBytes)),
      out: megabits(deliveries * (payloadBytes + SIZES.requestBytes)),
      redis: megabits(events * throughStore(SIZES.redisTraffic, payloadBytes, fanOut)),
      mongodb: megabits(events * throughStore(SIZES.mongodbTraffic, payloadBytes, fanOut)),
    },
    walls: [],
  };
  return { ...result, walls: wallsOf(demand, result) };
}

const throughStore = (
  { event, delivery, copies }: { event: number; delivery: number; copies: number },
  payloadBytes: number,
  fanOut: number,
) => event + fanOut * delivery + copies * payloadBytes;

const megabits = (bytesPerSecond: number) => (bytesPerSecond * 8) / 1e6;

function wallsOf(
  { way, events, fanOut, latencyMs, load, emitters }: Demand,
  { redis, mongodb }: Plan,
): string[] {
  const walls: string[] = [];
  if (redis.masters > 1) {
    walls.push(
      `Redis: ${redis.cores.toFixed(1)} cores, and a server has one: a cluster of ${redis.masters} masters. A queue is in one slot of it, so the busiest needs QUEUE_SHARDS (docs/scaling.md#the-first-walls)`,
    );
  }
  if (redis.memoryMb > LARGE_REDIS_MB) {
    walls.push(
      `Redis: ${Math.ceil(redis.memoryMb / 1024)} GB; a smaller --backlog, or fewer emitters that are active within a day`,
    );
  }
  if (mongodb.cores > LARGE_MONGODB_CORES) {
    walls.push(
      `MongoDB: the primary needs ${Math.ceil(mongodb.cores)} cores: a machine of that size, or shards (docs/scaling.md#shard-keys)`,
    );
  }
  const diskGb = mongodb.dataGb + mongodb.indexGb;
  if (diskGb > LARGE_MONGODB_GB) {
    walls.push(
      `MongoDB: ${Math.round(diskGb).toLocaleString("en")} GB on each member, before compression: shards (docs/scaling.md#shard-keys), or --retention as long as you need it`,
    );
  }
  if (mongodb.connections > MANY_CONNECTIONS) {
    walls.push(
      `MongoDB: up to ${mongodb.connections.toLocaleString("en")} connections, a thread each: a smaller maxPoolSize in MONGODB_URL`,
    );
  }
  const perWebhook = (LIMITS.permits.value * 1000) / latencyMs;
  if (fanOut > 0 && events > perWebhook) {
    walls.push(
      `deliveries: one webhook takes up to ${Math.floor(perWebhook)} events a second (webhook:32 in CONCURRENCY, ${latencyMs} ms each), so at least ${Math.ceil((events * fanOut) / perWebhook)} webhooks must share them`,
    );
  }
  if (way === "source" && events / emitters > SIZES.runsOfOneSourcePerSecond * load) {
    walls.push(
      `runs: those of a source are serial, and one source does ${SIZES.runsOfOneSourcePerSecond} a second: at least ${Math.ceil(events / SIZES.runsOfOneSourcePerSecond / load)} sources must share them`,
    );
  }
  return walls;
}

const MB = 2 ** 20;
const GB = 2 ** 30;
/** Up to here one machine is usual; what is beyond it, nobody has tried with Headwater. */
const LARGE_MONGODB_CORES = 16;
const LARGE_MONGODB_GB = 4096;
const MANY_CONNECTIONS = 10_000;
/** Events up to this size that no webhook receives are not in MongoDB. */
const SUMMARY_BYTES = 1024;
/** Above this share of Redis' memory, accounts with much waiting work get 429. */
const REDIS_FULL = LIMITS.redisHighWaterPercent.value / 100;
/** Connections to MongoDB that a process may open. */
const poolOf = (role: string): number => mongoPool("", role).maxPoolSize ?? 0;
/** Above this, a copy of Redis takes minutes to load. */
const LARGE_REDIS_MB = 32 * 1024;
