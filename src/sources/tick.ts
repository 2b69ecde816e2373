import { countDrop } from "../events/drops.ts";
import type { Platform } from "../platform.ts";
import { derivedId } from "../store/ids.ts";
import { enqueueRun } from "./enqueue-run.ts";
import { type Source, Sources, type StoredTimer } from "./model.ts";
import { wantedTimer } from "./schedule.ts";
import { type Timer, timerEvent } from "./timer.ts";

/** A tick that waited this long for its run is not waited for any more. */
const WAITING_SECONDS = 3600;

type TickPlatform = Pick<Platform, "mongo" | "redis" | "keys" | "queues" | "runLine" | "counters">;

/**
 * A timer's moment came: puts the run into the source's line. While an earlier tick still waits there, this one is
 * dropped (and counted), so that a source slower than its clock does not pile up runs.
 */
export async function tick(
  platform: TickPlatform,
  sourceId: string,
  dueAtMs: number,
): Promise<"enqueued" | "overlap" | "inactive"> {
  const source: Source | null = await Sources(platform.mongo).findById(sourceId).lean();
  const timer = source && wantedTimer(source);
  if (!timer) return "inactive";
  const runId = derivedId("run", dueAtMs, sourceId, "tick", String(dueAtMs));
  const flag = platform.keys.timerWaiting(sourceId);
  const waiting = await platform.redis.set(flag, runId, "EX", WAITING_SECONDS, "NX", "GET");
  if (waiting !== null && waiting !== runId) {
    await countDrop(platform, sourceId, "timer-overlap");
    return "overlap";
  }
  await enqueueRun(platform, sourceId, {
    kind: "timer",
    run_id: runId,
    at_ms: dueAtMs,
    event: timerEvent(asTimer(timer), dueAtMs),
  });
  return "enqueued";
}

function asTimer(timer: StoredTimer): Timer {
  return timer.cron === null
    ? { intervalSeconds: timer.interval_seconds ?? 0 }
    : { cron: timer.cron, timezone: timer.timezone ?? "UTC" };
}
