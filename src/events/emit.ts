import { notFound } from "../lib/errors.ts";
import { eventScore } from "../lib/event-id.ts";
import { failpoint } from "../lib/failpoint.ts";
import { timeOfId } from "../lib/ids.ts";
import { payloadId, type StoredEvent } from "../models/event.ts";
import type { Subscription } from "../models/subscription.ts";
import { isAlive } from "../queues/define-queue.ts";
import { deliveries } from "../queues/deliveries.ts";
import type { Emission } from "../queues/emissions.ts";
import { countDrop, type DropReason } from "../store/drops.ts";
import { EMITS_REMEMBERED_MS, streamOf } from "../store/event-log.ts";
import { findSubscriptions, selectWanting } from "../subscriptions/match.ts";
import { type Appended, appendKnown, type Known } from "./append.ts";
import { forgetTrimmed, type Trimmed } from "./delete-trimmed.ts";
import { type EmitPlatform, type Emitted, type FanOutOptions, fanOut } from "./fan-out.ts";
import { type EarlierEvent, findEarlier } from "./store.ts";

/** Fields of the job's log line; `unsure` when another worker seems to have the same emission in hand. */
export type EmitOutcome = Record<string, unknown> & { unsure?: true };

export interface EmitOptions extends FanOutOptions {
  /** Leaves an emission to whoever else has given it its event id and not yet stored it. */
  patient?: boolean;
  /** Deletes the payloads of events that fell out of their stream; at once unless given. */
  forget?: (trimmed: Trimmed[]) => Promise<void> | void;
}

/** As `emitAll`, for one. Throws `not-found` when the emitter is gone. */
export async function emit(platform: EmitPlatform, emission: Emission): Promise<EmitOutcome> {
  const [outcome] = await emitAll(platform, [emission]);
  if (!outcome) throw notFound("emitter");
  return outcome;
}

/**
 * Takes emissions off their queue: gives each its event id, stores the summary, and hands it to every listener that
 * subscribed. May be repeated at any point: an emit id gets its event id back, and deliveries have derived ids. Answers
 * null for an emission whose emitter is gone. Whatever the number of emissions, each store is asked a handful of times.
 */
export async function emitAll(
  platform: EmitPlatform,
  emissions: Emission[],
  { patient = false, forget = trimmed => forgetTrimmed(platform, trimmed), ...options }: EmitOptions = {},
): Promise<(EmitOutcome | null)[]> {
  const found = await appendKnown(platform, emissions);
  const [subscribed, earlier] = await Promise.all([
    subscriptionsOf(platform, found.events),
    findEarlier(platform, found.events.filter(one => mayBeStored(platform, one)).map(storedId)),
  ]);
  const events: Emitted[] = [];
  for (const one of found.events) {
    // Goes with the job when it must come again: then it has the same event id, even if Redis has forgotten it.
    one.emission.score ??= eventScore(one.eventId) ?? 0;
    const { subscriptions, filtered } = selectWanting(subscribed.get(feedOf(one)) ?? [], one.emission.event);
    const before = earlier.get(storedId(one));
    const stored = storedEvent(platform, one, subscriptions, before?.event_id);
    const post = stored.delivered ? await howToPost(platform, one, before, patient) : "no";
    events.push({ ...one, subscriptions, filtered, stored, post });
  }
  failpoint("events-appended");
  const [taken] = await Promise.all([fanOut(platform, events, options), countDrops(platform, events)]);
  failpoint("events-fanned-out");
  await forget(found.trimmed);
  const outcomes: (EmitOutcome | null)[] = emissions.map(() => null);
  for (const [i, { place, emitter, emission, channel, stored, post }] of events.entries()) {
    platform.counters.add("emissions_total", { stream: streamOf(channel) });
    outcomes[place] = {
      emitter_id: emitter.id,
      event_id: stored.event_id,
      emit_id: emission.emit_id,
      channel,
      listeners: taken[i] ?? 0,
      ...(post === "unsure" && { unsure: true as const }),
    };
  }
  return outcomes;
}

/** How old an emit id may be by its own time for Redis alone to know that it is new; clocks differ a little. */
const YOUNG_MS = EMITS_REMEMBERED_MS / 4;

/** Whether the event may stand in MongoDB: Redis has seen its emit id, or may have forgotten it. */
function mayBeStored(platform: EmitPlatform, { isNew, emission }: Appended): boolean {
  const at = timeOfId(emission.emit_id);
  return !isNew || at === null || Math.abs(platform.clock() - at) > YOUNG_MS;
}

const storedId = ({ emitter, emission }: Known) => payloadId(emitter.id, emission.emit_id);
const feedOf = ({ emitter, channel }: Known) => `${emitter.id} ${channel}`;

async function subscriptionsOf(
  platform: EmitPlatform,
  emissions: Known[],
): Promise<Map<string, Subscription[]>> {
  const feeds = new Map(emissions.map(one => [feedOf(one), one]));
  return await platform.directory.lookUp("subscriptions", [...feeds.keys()], async missing => {
    const found = missing.map(async feed => {
      const { emitter, channel } = feeds.get(feed) as Known;
      return [feed, await findSubscriptions(platform, emitter, channel)] as const;
    });
    return new Map(await Promise.all(found));
  });
}

function storedEvent(
  platform: EmitPlatform,
  one: Appended,
  subscriptions: Subscription[],
  earlierId: string | undefined,
): StoredEvent {
  const eventId = earlierId ?? one.eventId;
  return {
    _id: storedId(one),
    emitter_id: one.emitter.id,
    owner_id: one.emitter.owner_id,
    event_id: eventId,
    score: eventScore(eventId) ?? 0,
    name: one.channel,
    event: JSON.stringify(one.emission.event),
    delivered: subscriptions.some(subscription => subscription.listener_id.startsWith("wh_")),
    created_at: new Date(platform.clock()),
  };
}

/** Whether the first attempts of an event must be enqueued, which an earlier try may have done. */
async function howToPost(
  platform: EmitPlatform,
  { isNew }: Appended,
  earlier: EarlierEvent | undefined,
  patient: boolean,
): Promise<Emitted["post"]> {
  if (earlier) {
    if (earlier.group === undefined) return "no";
    return (await isAlive(platform.queues, deliveries, earlier.group)) ? "no" : "again";
  }
  if (isNew) return "first";
  return patient ? "unsure" : "again";
}

async function countDrops(platform: EmitPlatform, events: Emitted[]): Promise<void> {
  const drops = new Map<string, { emitterId: string; reason: DropReason; count: number }>();
  const count = (emitterId: string, reason: DropReason, by: number) => {
    if (by === 0) return;
    const key = `${emitterId} ${reason}`;
    drops.set(key, { emitterId, reason, count: (drops.get(key)?.count ?? 0) + by });
  };
  for (const { isNew, emitter, subscriptions, filtered, truncated } of events) {
    if (!isNew) continue;
    if (subscriptions.length === 0 && filtered === 0) count(emitter.id, "no-listener", 1);
    count(emitter.id, "filtered", filtered);
    // Its owner's count was raised with the summary.
    if (truncated)
      platform.counters.add("events_dropped_total", { reason: "truncated" satisfies DropReason });
  }
  await Promise.all(
    [...drops.values()].map(({ emitterId, reason, count: by }) => countDrop(platform, emitterId, reason, by)),
  );
}
