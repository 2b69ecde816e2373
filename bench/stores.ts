import { execFileSync } from "node:child_process";
import type { Queue } from "bullmq";
import type { RedisNode } from "../test/support/redis-nodes.ts";
import type { Watched } from "./meter.ts";

/** The stores of a measurement. */
export interface Stores {
  mongodbUrl: string;
  /** One server, or the masters of a cluster, separated by commas. */
  redisUrl: string;
  /** MongoDB and Redis, for the meter. */
  watched: Watched[];
}

/** Returns the stores that `script/bench` started for this run, from the environment variables that it sets. */
export function storesOfEnvironment(): Stores {
  const required = (name: string): string => {
    const value = process.env[name];
    if (!value) throw new Error(`${name} is not set: run the benchmarks with npm run bench`);
    return value;
  };
  return {
    mongodbUrl: required("BENCH_MONGODB_URL"),
    redisUrl: required("BENCH_REDIS_URL"),
    watched: [
      { name: "MongoDB", group: "mongodb", pid: Number(required("BENCH_MONGODB_PID")) },
      { name: "Redis", group: "redis", pid: Number(required("BENCH_REDIS_PID")) },
    ],
  };
}

/** Returns the process of a Redis, for the meter. */
export async function redisPid(node: RedisNode): Promise<number> {
  return Number(/process_id:(\d+)/.exec(String(await node.ask("INFO", "server")))?.[1]);
}

/** Returns the version that a store's server program prints. */
export function versionOf({ pid }: Watched): string {
  const output = execFileSync(`/proc/${pid}/exe`, ["--version"], { encoding: "utf8" });
  return /v=?(\d+\.\d+\.\d+)/.exec(output)?.[1] ?? "unknown";
}

const POLL_MS = 100;
const IDLE_POLLS = 3;
/** A job that is delayed for longer is not part of the load. */
const SOON_MS = 60_000;

/** Resolves once no queue has had work to do, now or soon, for a few polls in a row. */
export async function whenIdle(queues: Queue[]): Promise<void> {
  for (let polls = 0; polls < IDLE_POLLS; ) {
    const idle = await Promise.all(queues.map(isIdle));
    polls = idle.every(Boolean) ? polls + 1 : 0;
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
  }
}

async function isIdle(queue: Queue): Promise<boolean> {
  const [now, [next]] = await Promise.all([
    queue.getJobCountByTypes("waiting", "active", "prioritized"),
    queue.getDelayed(0, 0),
  ]);
  return now === 0 && (next === undefined || next.delay > SOON_MS);
}
