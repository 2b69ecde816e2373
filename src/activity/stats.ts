import { groupBy } from "../lib/lists.ts";
import type { Stores } from "../platform.ts";
import { hourOf, percentileOf, type Rollup, Rollups, rollupId } from "../store/activity.ts";
import type { HourStats, Stats } from "./schema.ts";

const HOUR_S = 3600;
const TOTAL_HOURS = 24;

/**
 * Returns what happened to a subject (an account, a webhook, a source or workflow) in each of the last `hours` hours, the
 * present one last, and in all of them. Read from rollups, which are a few seconds behind
 * (docs/decisions/0025-rollups.md).
 */
export async function readStats({ mongo, clock }: Stores, subjectId: string, hours: number): Promise<Stats> {
  const last = hourOf(clock());
  const first = last - (hours - 1) * HOUR_S;
  const rollups = await Rollups(mongo)
    .find({ _id: { $gte: rollupId(subjectId, first), $lte: rollupId(subjectId, last) } })
    .lean<Rollup[]>();
  const byId = new Map(rollups.map(rollup => [rollup._id, rollup]));
  const at = Array.from({ length: hours }, (_, i) => first + i * HOUR_S);
  return {
    hours: at.map(hour => present(hour, byId.get(rollupId(subjectId, hour)))),
    total: present(first, sumOf(rollups)),
  };
}

/** Returns what happened to each of some subjects, by its id, in the last 24 hours altogether. */
export async function readTotals(
  { mongo, clock }: Stores,
  subjectIds: string[],
): Promise<Map<string, HourStats>> {
  const last = hourOf(clock());
  const hours = Array.from({ length: TOTAL_HOURS }, (_, i) => last - i * HOUR_S);
  const rollups = await Rollups(mongo)
    .find({ _id: { $in: subjectIds.flatMap(id => hours.map(hour => rollupId(id, hour))) } })
    .lean<Rollup[]>();
  const first = last - (TOTAL_HOURS - 1) * HOUR_S;
  const bySubject = groupBy(rollups, ({ _id }) => _id.slice(0, _id.lastIndexOf(":")));
  return new Map(subjectIds.map(id => [id, present(first, sumOf(bySubject.get(id) ?? []))]));
}

type Counted = Pick<Rollup, "counts" | "dropped" | "latency">;

function sumOf(rollups: Rollup[]): Counted {
  const sum: Counted = { counts: {}, dropped: {}, latency: {} };
  for (const rollup of rollups) {
    for (const field of ["counts", "dropped", "latency"] as const) {
      for (const [name, by] of Object.entries(rollup[field] ?? {})) {
        sum[field][name] = (sum[field][name] ?? 0) + by;
      }
    }
  }
  return sum;
}

function present(at: number, { counts = {}, dropped = {}, latency = {} }: Partial<Counted> = {}): HourStats {
  return {
    at,
    emitted: counts.emitted ?? 0,
    runs: counts.runs ?? 0,
    run_errors: counts.run_errors ?? 0,
    attempts: counts.attempts ?? 0,
    delivered: counts.delivered ?? 0,
    failed: counts.failed ?? 0,
    cancelled: counts.cancelled ?? 0,
    retried: counts.retried ?? 0,
    dropped,
    p50_ms: percentileOf(latency, 0.5),
    p95_ms: percentileOf(latency, 0.95),
  };
}
