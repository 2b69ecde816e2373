import { derivedId } from "../lib/ids.ts";
import { type Source, Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { fromStoredTimer, timerEvent } from "../props/timer.ts";
import { enqueueRun } from "../queues/enqueue-run.ts";
import { activeTimer } from "../sources/timer-scheduler.ts";
import { admitTick } from "../store/admit-tick.ts";
import { countDrop } from "../store/drops.ts";

export type TickPlatform = Pick<
  Platform,
  "mongo" | "redis" | "keys" | "queues" | "runQueue" | "metrics" | "clock"
>;

/** Returns the id of the run at a due time. It is derived, so that a time that is reported twice runs once. */
export const tickRunId = (sourceId: string, dueAtMs: number): string =>
  derivedId("run", dueAtMs, sourceId, "tick", String(dueAtMs));

/**
 * Queues the run of a timer that is due (`dueAtMs`, Unix milliseconds). The tick is dropped and counted if an earlier
 * one still waits or a later one has run already, so that neither a source slower than its timer nor an outage piles
 * up runs. Throws `unavailable`.
 */
export async function tick(
  platform: TickPlatform,
  sourceId: string,
  dueAtMs: number,
): Promise<"enqueued" | "overlap" | "inactive"> {
  const source: Source | null = await Sources(platform.mongo).findById(sourceId).lean();
  const timer = source && activeTimer(source);
  if (!timer) return "inactive";
  const runId = tickRunId(sourceId, dueAtMs);
  if (!(await admitTick(platform, sourceId, { runId, dueAtMs, nowMs: platform.clock() }))) {
    await countDrop(platform, sourceId, "timer-overlap");
    return "overlap";
  }
  const run = {
    kind: "timer" as const,
    run_id: runId,
    at_ms: dueAtMs,
    event: timerEvent(fromStoredTimer(timer), dueAtMs),
  };
  await enqueueRun(platform, sourceId, run, source.owner_id);
  return "enqueued";
}
