import { CronExpressionParser } from "cron-parser";
import { derivedId } from "../lib/ids.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { RunRecords } from "../models/run.ts";
import { type Source, Sources, type StoredTimer } from "../models/source.ts";
import type { Working } from "../platform.ts";
import { fromStoredTimer, timerEvent } from "../props/timer.ts";
import type { RunItem } from "../queues/run-item.ts";
import { enqueueRun } from "../queues/runs.ts";
import { activeTimer } from "../sources/timer-scheduler.ts";
import { countDrop } from "../store/events/drops.ts";
import { admitTick } from "../store/runs/admit-tick.ts";
import { ofAccount } from "../store/runs/run-queue.ts";

/** Returns the id of the run at a due time. It is derived, so that a time that is reported twice runs once. */
export const tickRunId = (sourceId: string, dueAtMs: number): string =>
  derivedId("run", dueAtMs, sourceId, "tick", String(dueAtMs));

/** What became of a tick; `repeated` if its run was queued or recorded by an earlier start of the same tick. */
export type TickResult = "enqueued" | "repeated" | "overlap" | "early" | "inactive";

/**
 * Queues the run of a timer that is due (`dueAtMs`, Unix milliseconds). The tick is dropped and counted if an earlier
 * one still waits or a later one has run already, so that neither a source slower than its timer nor an outage piles
 * up runs. A tick that comes before its time, from a machine whose clock is wrong, does nothing: the reconciler sets
 * its timer again (docs/design.md#guarantee-7). Throws `unavailable`.
 */
export async function tick(platform: Working, sourceId: string, dueAtMs: number): Promise<TickResult> {
  const source: Source | null = await Sources(platform.mongo).findById(sourceId).lean();
  const timer = source && activeTimer(source);
  if (!timer) return "inactive";
  const runId = tickRunId(sourceId, dueAtMs);
  // From the run's id, because a repeated tick must push the very text that was admitted.
  const span = platform.tracer.enter("timer", dueAtMs, { seed: runId });
  const item: RunItem = {
    kind: "timer",
    run_id: runId,
    at_ms: dueAtMs,
    event: timerEvent(fromStoredTimer(timer), dueAtMs),
    ...(span && { trace: span.context }),
  };
  const admission = await admitTick(platform, sourceId, { runId, dueAtMs, run: JSON.stringify(item) });
  if (admission === "early") return "early";
  if (admission !== "admitted" && (await RunRecords(platform.mongo).exists({ _id: runId })))
    return "repeated";
  if (admission === "overlap") {
    await countDrop(platform, sourceId, "timer-overlap");
    return "overlap";
  }
  await enqueueRun(platform, sourceId, item, ofAccount(source.owner_id));
  span?.end({ "headwater.source_id": sourceId, "headwater.run_id": runId }, platform.clock());
  return "enqueued";
}

const KEPT_MS = LIMITS.idleTickKept.value;
const MOST_MS = LIMITS.runKept.value;

/**
 * Returns for how many milliseconds the record of a tick that emitted nothing is kept: a timer's runs would otherwise be
 * most of all records. The record of a cron's moment lasts until the next one is over, since the reconciler looks for it
 * to learn whether that moment was missed (docs/design.md#guarantee-7). `nowMs` is Unix milliseconds.
 */
export function idleTickKeptMs(timer: StoredTimer | null, nowMs: number): number {
  if (!timer?.cron) return KEPT_MS;
  const options = { tz: timer.timezone ?? "UTC", currentDate: new Date(nowMs) };
  const next = CronExpressionParser.parse(timer.cron, options).next().getTime();
  return Math.min(MOST_MS, next - nowMs + KEPT_MS);
}
