import { newToken } from "../lib/ids.ts";
import { type StoredEvent, StoredEvents } from "../models/event.ts";
import type { Platform } from "../platform.ts";
import { enqueue, isAlive } from "../queues/define-queue.ts";
import { deliveries } from "../queues/deliveries.ts";
import { hasFirstAttempts, inJob } from "./dispatch/dispatch.ts";

type Stores = Pick<Platform, "mongo" | "queues" | "config" | "clock">;

const BATCH = 500;

/**
 * Enqueues first attempts anew whose job is gone without each of them being recorded, as after the loss of Redis; and
 * settles the events whose attempts are all recorded. Answers how many events it enqueued.
 */
export async function enqueueForgotten(platform: Stores): Promise<number> {
  let enqueued = 0;
  for (;;) {
    const overdue = await StoredEvents(platform.mongo)
      .find({ "undelivered.sweep_at_ms": { $gt: 0, $lte: platform.clock() } })
      .hint("undelivered")
      .sort({ "undelivered.sweep_at_ms": 1 })
      .limit(BATCH)
      .lean<StoredEvent[]>();
    const alive = await groupsAlive(platform, overdue);
    for (const event of overdue) {
      if (event.undelivered && alive.has(event.undelivered.group)) await putOff(platform, event);
      else if (await hasFirstAttempts(platform, event)) await settle(platform, event);
      else {
        await enqueueAgain(platform, event);
        enqueued += 1;
      }
    }
    if (overdue.length < BATCH) return enqueued;
  }
}

async function groupsAlive(platform: Stores, events: StoredEvent[]): Promise<Set<string>> {
  const alive = new Set<string>();
  for (const group of new Set(events.map(event => event.undelivered?.group ?? ""))) {
    if (await isAlive(platform.queues, deliveries, group)) alive.add(group);
  }
  return alive;
}

async function putOff(platform: Stores, event: StoredEvent): Promise<void> {
  await StoredEvents(platform.mongo).updateOne(
    { _id: event._id, "undelivered.group": event.undelivered?.group },
    { $set: { "undelivered.sweep_at_ms": platform.clock() + platform.config.sweepEveryMs } },
  );
}

async function settle(platform: Stores, event: StoredEvent): Promise<void> {
  await StoredEvents(platform.mongo).updateOne({ _id: event._id }, { $unset: { undelivered: 1 } });
}

/** Under a new name, since the one before may be kept as failed; that is noted first, so that it is not done twice. */
async function enqueueAgain(platform: Stores, event: StoredEvent): Promise<void> {
  const group = newToken();
  await StoredEvents(platform.mongo).updateOne(
    { _id: event._id },
    {
      $set: {
        "undelivered.group": group,
        "undelivered.sweep_at_ms": platform.clock() + platform.config.sweepEveryMs,
      },
    },
  );
  await enqueue(platform.queues, deliveries, { group, again: true, events: [inJob(event)] });
}
