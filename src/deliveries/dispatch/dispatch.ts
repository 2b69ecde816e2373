import { failpoint } from "../../lib/failpoint.ts";
import { newToken } from "../../lib/ids.ts";
import { Deliveries } from "../../models/delivery.ts";
import type { StoredEvent } from "../../models/event.ts";
import type { Subscription } from "../../models/subscription.ts";
import type { Platform } from "../../platform.ts";
import { enqueueAll } from "../../queues/define-queue.ts";
import { deliveries, type FirstAttempts } from "../../queues/deliveries.ts";
import { deliveryId } from "./create.ts";

type Stores = Pick<Platform, "mongo" | "queues" | "directory" | "clock" | "config">;

export interface Wanted {
  event: StoredEvent;
  /** The subscriptions of webhooks that want it. */
  listeners: Pick<Subscription, "_id" | "listener_id" | "owner_id">[];
  /** True when an earlier try may have enqueued its first attempts already. */
  isAgain: boolean;
}

/** First attempts in one job: enough that the job costs little beside them, few enough to spread over the workers. */
const ATTEMPTS_IN_A_JOB = 32;
/** A larger event is read from MongoDB when it is sent, so that Redis never holds much of it. */
const INLINE_BYTES = 8 * 1024;

/**
 * Stores events, by `storeAll`, and enqueues their first attempts, those of many events in one job. The delivery itself becomes a
 * document when its first attempt was made, or has to wait: until then the event tells what is still to be done, for
 * the sweep (design.md, guarantee 2). Safe to repeat: what was recorded is not attempted again.
 */
export async function enqueueFirstAttempts(
  platform: Stores,
  wanted: Wanted[],
  storeAll: (events: StoredEvent[]) => Promise<void>,
): Promise<void> {
  const groups = inJobs(wanted).map(some => ({ group: newToken(), some }));
  for (const { group, some } of groups) {
    for (const { event, listeners } of some) {
      event.undelivered = {
        listeners: listeners.map(({ _id, listener_id, owner_id }) => [_id, listener_id, owner_id]),
        group,
        sweep_at_ms: platform.clock() + platform.config.sweepEveryMs,
      };
    }
  }
  const store = async () => {
    await storeAll(wanted.map(({ event }) => event));
    failpoint("events-stored");
  };
  const as_of = platform.directory.version();
  const jobs = groups.map(({ group, some }): FirstAttempts => {
    const again = some.some(({ isAgain }) => isAgain);
    return { group, as_of, ...(again && { again }), events: some.map(({ event }) => inJob(event)) };
  });
  const enqueue = async () => {
    await enqueueAll(platform.queues, deliveries, jobs);
    failpoint("first-attempts-enqueued");
  };
  // Side by side: the emissions' own job is there until both are done, and their ids stay (docs/decisions/0012). But
  // an attempt that finds its event in MongoDB only must find it.
  const isInline = jobs.every(({ events }) => events.every(event => event.body !== undefined));
  if (isInline) return void (await Promise.all([store(), enqueue()]));
  await store();
  await enqueue();
}

/** An event with all of its listeners stays in one job, so that its end is known there. */
function inJobs(wanted: Wanted[]): Wanted[][] {
  const jobs: Wanted[][] = [];
  let attempts = Number.POSITIVE_INFINITY;
  for (const one of wanted) {
    attempts += one.listeners.length;
    if (attempts > ATTEMPTS_IN_A_JOB) {
      jobs.push([]);
      attempts = one.listeners.length;
    }
    jobs.at(-1)?.push(one);
  }
  return jobs;
}

/** What the job says of an event with its first attempts still to be made. */
export function inJob({ _id, event_id, emitter_id, name, event, undelivered }: StoredEvent) {
  return {
    id: _id,
    event_id,
    emitter_id,
    name,
    ...(event.length <= INLINE_BYTES && { body: event }),
    listeners: undelivered?.listeners ?? [],
  };
}

/** True when each of an event's first attempts is recorded, or waits as a delivery of its own. */
export async function hasFirstAttempts(
  platform: Pick<Platform, "mongo">,
  { _id, event_id, undelivered }: Pick<StoredEvent, "_id" | "event_id" | "undelivered">,
): Promise<boolean> {
  if (!undelivered) return true;
  const ids = undelivered.listeners.map(([subscriptionId]) =>
    deliveryId({ id: _id, event_id }, subscriptionId),
  );
  return (await Deliveries(platform.mongo).countDocuments({ _id: { $in: ids } })) === ids.length;
}
