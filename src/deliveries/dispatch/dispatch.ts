import type { Connection } from "mongoose";
import { createBatcher, createDeferredBatcher, LINGER } from "../../lib/batcher.ts";
import { divide } from "../../lib/divide.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { hopsField } from "../../lib/hops.ts";
import { newToken } from "../../lib/ids.ts";
import { openPer } from "../../lib/lazy.ts";
import { groupBy } from "../../lib/lists.ts";
import { Deliveries } from "../../models/delivery.ts";
import { type PendingDispatch, type StoredEvent, StoredEvents } from "../../models/event.ts";
import type { Subscription } from "../../models/subscription.ts";
import type { Queued, Stores } from "../../platform.ts";
import { enqueueAll } from "../../queues/define-queue.ts";
import { deliveries, type FirstAttempts } from "../../queues/deliveries.ts";
import { insertMissing } from "../../store/connections/mongo.ts";
import { lookUpWebhooks } from "../../webhooks/find.ts";
import { deliveryId } from "./create.ts";

export interface EventToDispatch {
  event: StoredEvent;
  /** The webhook subscriptions that want it. */
  listeners: Pick<Subscription, "_id" | "listener_id" | "owner_id" | "function_hash">[];
  /** True if an earlier try may have enqueued its first attempts already. */
  isRedispatch: boolean;
}

/** Listeners of an event whose webhooks are noted with it without being looked up. */
const FEW_LISTENERS = 4;
/** First attempts in one job: enough that the job costs little, few enough to spread over the workers. */
const ATTEMPTS_PER_JOB = 32;
/**
 * A larger event is read from MongoDB when it is sent, so that Redis never holds much of it; so is every event while Redis is
 * above its high-water mark.
 */
const INLINE_BYTES = 8 * 1024;

/**
 * Stores events and enqueues their first attempts, many events in one job. A delivery becomes a document
 * when its first attempt was made or has to wait; until then the event's `pending_dispatch` shows the sweep what is left
 * to do (docs/design.md#guarantee-2). Safe to repeat: what was recorded is not attempted again.
 */
export async function dispatchEvents(
  platform: Stores & Queued,
  toDispatch: EventToDispatch[],
): Promise<void> {
  const ofAccounts = [...groupBy(toDispatch, ({ event }) => event.owner_id).values()];
  const packed = ofAccounts
    .flatMap(ofOne => packEvents(ofOne, ({ listeners }) => listeners.length))
    .map(events => ({ job_id: newToken(), events }));
  const awaiting = await webhooksThatWait(platform, toDispatch);
  for (const { job_id, events } of packed) {
    for (const { event, listeners } of events) {
      event.pending_dispatch = {
        listeners: listeners.map(({ _id, listener_id, owner_id }) => [_id, listener_id, owner_id]),
        ...functionsOf(listeners),
        webhook_ids: [...new Set(listeners.map(({ listener_id }) => listener_id))].filter(awaiting),
        job_id,
        sweep_at_ms: platform.clock() + platform.config.sweepEveryMs,
      };
    }
  }
  const store = async () => {
    await persistEvents(
      platform,
      toDispatch.map(({ event }) => event),
    );
    failpoint("events-stored");
  };
  const inlineBytes = platform.memory.allowed() < 1 ? 0 : INLINE_BYTES;
  const routing_version = platform.routing.version();
  const jobs = packed.map(({ job_id, events }): FirstAttempts => {
    const is_redispatch = events.some(({ isRedispatch }) => isRedispatch);
    return {
      job_id,
      routing_version,
      ...(is_redispatch && { is_redispatch }),
      account_id: events[0]?.event.owner_id,
      events: events.map(({ event }) => eventInJob(event, inlineBytes)),
    };
  });
  const enqueue = async () => {
    await enqueueAll(platform.queues, deliveries.jobs["first-attempts"], jobs);
    failpoint("first-attempts-enqueued");
  };
  // In parallel: the emissions' own job stays until both are done, and its event ids stay the same
  // (docs/decisions/0012-few-jobs-and-round-trips.md). But an attempt that reads its event from MongoDB must find it.
  const isInline = jobs.every(({ events }) => events.every(event => event.body !== undefined));
  if (isInline) {
    await Promise.all([store(), enqueue()]);
    return;
  }
  await store();
  await enqueue();
}

/**
 * Returns a function that says whether a webhook may have to wait for an event, as ordered ones do. To look up few webhooks
 * costs more than to note them; many would be as many entries of an index for each event.
 */
async function webhooksThatWait(
  platform: Stores & Queued,
  toDispatch: EventToDispatch[],
): Promise<(webhookId: string) => boolean> {
  const most = Math.max(0, ...toDispatch.map(({ listeners }) => listeners.length));
  if (most <= FEW_LISTENERS) return () => true;
  const ids = toDispatch.flatMap(({ listeners }) => listeners.map(({ listener_id }) => listener_id));
  const webhooks = await lookUpWebhooks(platform, [...new Set(ids)]);
  return id => webhooks.get(id)?.ordered === true;
}

/**
 * Packs events of one account into jobs. An event stays in one job with all its listeners, so that the job knows when the event is
 * done; `listenersOf` returns how many it has.
 */
export const packEvents = <Event>(events: Event[], listenersOf: (event: Event) => number): Event[][] =>
  divide(events, ATTEMPTS_PER_JOB, listenersOf);

/** An event as its job of first attempts carries it. */
function eventInJob(
  { _id, event_id, emitter_id, name, event, trace, hops, pending_dispatch }: StoredEvent,
  inlineBytes: number,
) {
  return {
    id: _id,
    event_id,
    emitter_id,
    name,
    ...(event.length <= inlineBytes && { body: event }),
    ...(trace !== undefined && { trace }),
    ...hopsField({ hops }),
    ...whatIsPending({ pending_dispatch }),
  };
}

/** The functions of those listeners that have one. */
function functionsOf(listeners: EventToDispatch["listeners"]): Pick<PendingDispatch, "functions"> {
  const having = listeners.flatMap(({ _id, function_hash }) =>
    function_hash === undefined ? [] : [[_id, function_hash] as const],
  );
  return having.length === 0 ? {} : { functions: Object.fromEntries(having) };
}

/** What a job of first attempts needs to know of an event's listeners. */
export function whatIsPending({
  pending_dispatch,
}: Pick<StoredEvent, "pending_dispatch">): Pick<PendingDispatch, "listeners" | "functions"> {
  const { listeners = [], functions } = pending_dispatch ?? {};
  return { listeners, ...(functions && { functions }) };
}

/** Returns true if each of an event's first attempts is recorded as a delivery of its own. */
export async function hasRecordedFirstAttempts(
  platform: Stores,
  event: Pick<StoredEvent, "_id" | "event_id" | "pending_dispatch">,
): Promise<boolean> {
  const ids = firstDeliveryIds(event);
  return (await Deliveries(platform.mongo).countDocuments({ _id: { $in: ids } })) === ids.length;
}

/** Returns the ids of the deliveries that an event's pending dispatch becomes. */
export function firstDeliveryIds({
  _id,
  event_id,
  pending_dispatch,
}: Pick<StoredEvent, "_id" | "event_id" | "pending_dispatch">): string[] {
  const listeners = pending_dispatch?.listeners ?? [];
  return listeners.map(([subscriptionId]) => deliveryId({ id: _id, event_id }, subscriptionId));
}

/** Removes `pending_dispatch` from stored events (by their ids), a little later and many at a time. Never throws. */
export type ClearPendingDispatch = (storedEventIds: string[]) => void;

export function openClearPendingDispatch(platform: Stores): ClearPendingDispatch {
  return createDeferredBatcher(
    async ids => {
      await StoredEvents(platform.mongo).updateMany(
        { _id: { $in: ids } },
        { $unset: { pending_dispatch: 1 } },
        // Not by a majority: if a failover loses it, the sweep looks once more.
        { writeConcern: { w: 1 } },
      );
    },
    error => platform.log.debug({ err: error }, "pending dispatches are left to the sweep"),
  );
}

/** Events in one insert; and inserts at a time, so that the next is prepared while MongoDB handles another. */
const EVENTS_PER_INSERT = 500;
const INSERTS_AT_ONCE = 3;
/** Listeners that an event is stored with and that take as long as an event. */
const LISTENERS_PER_UNIT = 8;

const weightOf = ({ pending_dispatch }: StoredEvent) =>
  1 + (pending_dispatch?.listeners.length ?? 0) / LISTENERS_PER_UNIT;

const insertOf = openPer((mongo: Connection) => {
  const insert = async (batch: StoredEvent[][]) =>
    void (await insertMissing(StoredEvents(mongo), batch.flat()));
  return createBatcher(insert, {
    maxWeight: EVENTS_PER_INSERT,
    concurrency: INSERTS_AT_ONCE,
    weigh: events => events.reduce((sum, event) => sum + weightOf(event), 0),
    accountOf: ([event]) => event?.owner_id ?? "",
    ...LINGER,
  });
});

/**
 * Stores the payloads of events of one account; one that an earlier try stored stays as it is. What this process stores at
 * the same time is one insert. Throws `unavailable`.
 */
export async function persistEvents({ mongo }: Stores, events: StoredEvent[]): Promise<void> {
  if (events.length > 0) await insertOf(mongo)(events);
}
