import { newToken } from "../lib/ids.ts";
import { type StoredEvent, StoredEvents } from "../models/event.ts";
import type { Platform } from "../platform.ts";
import { enqueue, jobState } from "../queues/define-queue.ts";
import { deliveries } from "../queues/deliveries.ts";
import { eventInJob, hasRecordedFirstAttempts } from "./dispatch/dispatch.ts";

type Deps = Pick<Platform, "mongo" | "queues" | "config" | "clock">;

const BATCH = 500;

/**
 * Dispatches events again whose job was lost before each first attempt was recorded, as after a loss of Redis, and clears
 * the pending dispatch of events whose attempts are all recorded. Returns how many events it dispatched.
 */
export async function redispatchLost(platform: Deps): Promise<number> {
  let dispatched = 0;
  for (;;) {
    const overdue = await StoredEvents(platform.mongo)
      .find({ "pending_dispatch.sweep_at_ms": { $gt: 0, $lte: platform.clock() } })
      .hint("pending_dispatch")
      .sort({ "pending_dispatch.sweep_at_ms": 1 })
      .limit(BATCH)
      .lean<StoredEvent[]>();
    const live = await liveJobs(platform, overdue);
    for (const event of overdue) {
      if (event.pending_dispatch && live.has(event.pending_dispatch.job_id)) await postpone(platform, event);
      else if (await hasRecordedFirstAttempts(platform, event)) await clear(platform, event);
      else {
        await redispatch(platform, event);
        dispatched += 1;
      }
    }
    if (overdue.length < BATCH) return dispatched;
  }
}

async function liveJobs(platform: Deps, events: StoredEvent[]): Promise<Set<string>> {
  const live = new Set<string>();
  for (const jobId of new Set(events.map(event => event.pending_dispatch?.job_id ?? ""))) {
    if ((await jobState(platform.queues, deliveries, jobId)) === "live") live.add(jobId);
  }
  return live;
}

async function postpone(platform: Deps, event: StoredEvent): Promise<void> {
  await StoredEvents(platform.mongo).updateOne(
    { _id: event._id, "pending_dispatch.job_id": event.pending_dispatch?.job_id },
    { $set: { "pending_dispatch.sweep_at_ms": platform.clock() + platform.config.sweepEveryMs } },
  );
}

async function clear(platform: Deps, event: StoredEvent): Promise<void> {
  await StoredEvents(platform.mongo).updateOne({ _id: event._id }, { $unset: { pending_dispatch: 1 } });
}

/** Under a new job id, since the old job may be kept as failed; the id is stored first, so that nothing is done twice. */
async function redispatch(platform: Deps, event: StoredEvent): Promise<void> {
  const job_id = newToken();
  await StoredEvents(platform.mongo).updateOne(
    { _id: event._id },
    {
      $set: {
        "pending_dispatch.job_id": job_id,
        "pending_dispatch.sweep_at_ms": platform.clock() + platform.config.sweepEveryMs,
      },
    },
  );
  const job = { job_id, is_redispatch: true, events: [eventInJob(event)] };
  await enqueue(platform.queues, deliveries.jobs["first-attempts"], job);
}
