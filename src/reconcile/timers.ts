import type { Platform } from "../platform.ts";
import { openedQueue } from "../queues/define-queue.ts";
import { runs } from "../queues/runs.ts";
import { type Source, Sources } from "../sources/model.ts";
import { setTimer, ticksAs, wantedTimer } from "../sources/schedule.ts";

/** A timer whose next tick lies this far back has stopped. */
const LATE_MS = 60_000;

/**
 * Compares BullMQ's job schedulers with the timers MongoDB says there are: sets missing, wrong and stopped ones anew,
 * removes the others (design.md, guarantee 7). A timer set anew ticks once, however many ticks it missed.
 */
export async function reconcileTimers(
  platform: Pick<Platform, "mongo" | "queues" | "log" | "counters" | "clock">,
): Promise<{ timers: number }> {
  const queue = openedQueue(platform.queues, runs);
  const schedulers = new Map(
    (await queue.getJobSchedulers(0, -1)).map(scheduler => [scheduler.key, scheduler]),
  );
  let mended = 0;
  const ticking = Sources(platform.mongo)
    .find({ active: true, state: "ready", timer: { $type: "object" } })
    .lean<Source[]>()
    .cursor();
  for await (const source of ticking) {
    const timer = wantedTimer(source);
    const scheduler = schedulers.get(source._id);
    schedulers.delete(source._id);
    if (!timer) continue;
    const isLate = scheduler?.next !== undefined && scheduler.next < platform.clock() - LATE_MS;
    if (scheduler && ticksAs(scheduler, timer) && !isLate) continue;
    if (isLate) {
      platform.counters.add("timers_late_total");
      platform.log.warn({ source_id: source._id, due_at: scheduler.next }, "timer missed its time");
    }
    await setTimer(platform, source._id, timer);
    mended += 1;
  }
  for (const key of schedulers.keys()) {
    // Read again: the source may have been made while we looked.
    const source = await Sources(platform.mongo).findById(key).lean();
    if (source && wantedTimer(source)) continue;
    await queue.removeJobScheduler(key);
    mended += 1;
  }
  return { timers: mended };
}
