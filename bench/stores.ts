import { execFileSync } from "node:child_process";
import type { Queue } from "bullmq";
import type { Watched } from "./meter.ts";

/** The stores that `script/bench` started for this run. */
export interface Stores {
  mongodbUrl: string;
  redisUrl: string;
  /** MongoDB and Redis, for the meter. */
  watched: Watched[];
}

/** Reads what `script/bench` hands over. */
export function givenStores(): Stores {
  const given = (name: string): string => {
    const value = process.env[name];
    if (!value) throw new Error(`${name} is not set: run the benchmarks with npm run bench`);
    return value;
  };
  return {
    mongodbUrl: given("BENCH_MONGODB_URL"),
    redisUrl: given("BENCH_REDIS_URL"),
    watched: [
      { name: "MongoDB", group: "mongodb", pid: Number(given("BENCH_MONGODB_PID")) },
      { name: "Redis", group: "redis", pid: Number(given("BENCH_REDIS_PID")) },
    ],
  };
}

/** The version a store's server says it has, from its own program. */
export function versionOf({ pid }: Watched): string {
  const said = execFileSync(`/proc/${pid}/exe`, ["--version"], { encoding: "utf8" });
  return /v=?(\d+\.\d+\.\d+)/.exec(said)?.[1] ?? "unknown";
}

const POLL_MS = 100;
const IDLE_LOOKS = 3;
/** What is delayed for longer is no part of what was just sent: W5's mass. */
const SOON_MS = 60_000;

/** Resolves when none of the queues has work to do now or soon, seen a few times in a row. */
export async function whenIdle(queues: Queue[]): Promise<void> {
  for (let looks = 0; looks < IDLE_LOOKS; ) {
    const idle = await Promise.all(queues.map(isIdle));
    looks = idle.every(Boolean) ? looks + 1 : 0;
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
