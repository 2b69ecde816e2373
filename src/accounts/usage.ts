import type { PlanLimitName } from "../limits/plan-limits.ts";
import type { Queued, Stores } from "../platform.ts";
import { readEmissionBytes } from "../store/limits/waiting-bytes.ts";
import { readWorkflowBacklog } from "../store/limits/workflow-backlog.ts";
import { countAll } from "./limits.ts";

/** What an account used on one day. */
export interface Usage {
  /** Number of runs. */
  invocations: number;
  /** Milliseconds. */
  compute: number;
  /** Events published over HTTP. */
  published: number;
}

/** Longer than any billing period, so that the sum of a period never misses a day. */
const STORED_SECONDS = 70 * 86_400;
const DAY_MS = 86_400_000;

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

const parse = (fields: Record<string, string>): Usage => ({
  invocations: Number(fields.invocations ?? 0),
  compute: Number(fields.compute ?? 0),
  published: Number(fields.published ?? 0),
});

/**
 * Adds runs, and the compute time of all of them in milliseconds, to what an account used today (UTC); returns how many, and
 * how long, those of today are now.
 */
export async function countRuns(
  platform: Stores,
  ownerId: string,
  runs: number,
  computeMs: number,
): Promise<Pick<Usage, "invocations" | "compute">> {
  const key = platform.keys.usage(ownerId, dayOf(platform.clock()));
  const [invocations, compute] = await Promise.all([
    platform.redis.hincrby(key, "invocations", runs),
    platform.redis.hincrby(key, "compute", Math.ceil(computeMs)),
    platform.redis.expire(key, STORED_SECONDS),
  ]);
  return { invocations, compute };
}

/** Adds events published over HTTP to what accounts used today (UTC), in one round trip. */
export async function countPublished(platform: Stores, counts: ReadonlyMap<string, number>): Promise<void> {
  const day = dayOf(platform.clock());
  await Promise.all(
    [...counts].flatMap(([ownerId, count]) => {
      const key = platform.keys.usage(ownerId, day);
      return [platform.redis.hincrby(key, "published", count), platform.redis.expire(key, STORED_SECONDS)];
    }),
  );
}

/** Returns what an account used today (UTC). */
export async function usageToday(platform: Stores, ownerId: string): Promise<Usage> {
  return parse(await platform.redis.hgetall(platform.keys.usage(ownerId, dayOf(platform.clock()))));
}

/** What an account used on one day (UTC), such as `2026-11-22`. */
export interface DayUsage extends Usage {
  day: string;
}

/** Returns what an account used on each of the last `days` days, newest first; all days in one round trip. */
export async function usagePerDay(platform: Stores, ownerId: string, days: number): Promise<DayUsage[]> {
  const names = Array.from({ length: days }, (_, i) => dayOf(platform.clock() - i * DAY_MS));
  const found = await Promise.all(
    names.map(day => platform.redis.hgetall(platform.keys.usage(ownerId, day))),
  );
  return names.map((day, i) => ({ day, ...parse(found[i] ?? {}) }));
}

/** Returns the billing period: the first and last second of the calendar month in UTC, as Unix seconds. */
export function billingPeriod(nowMs: number): { start: number; end: number } {
  const now = new Date(nowMs);
  const start = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  return { start: start / 1000, end: end / 1000 - 1 };
}

/** Returns the number of runs of an account since the start of the billing period. */
export async function invocationsThisPeriod(platform: Stores, ownerId: string): Promise<number> {
  const { start } = billingPeriod(platform.clock());
  let sum = 0;
  for (let at = start * 1000; at <= platform.clock(); at += DAY_MS) {
    const count = await platform.redis.hget(platform.keys.usage(ownerId, dayOf(at)), "invocations");
    sum += Number(count ?? 0);
  }
  return sum;
}

/** Returns what an account has of the things that its plan bounds, as far as that is counted. */
export async function usageOf(
  platform: Stores & Queued,
  ownerId: string,
): Promise<Partial<Record<PlanLimitName, number>>> {
  const [counts, queuedBytes, emissionBytes, [workflowEvents, workflowEventBytes], today] = await Promise.all(
    [
      countAll(platform, ownerId),
      platform.queued.read(ownerId),
      readEmissionBytes(platform, ownerId),
      readWorkflowBacklog(platform, ownerId),
      usageToday(platform, ownerId),
    ],
  );
  const publishedEvents = today.published;
  return { ...counts, queuedBytes, emissionBytes, workflowEvents, workflowEventBytes, publishedEvents };
}
