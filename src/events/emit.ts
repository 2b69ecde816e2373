import { notFound } from "../errors.ts";
import type { EmissionsJob } from "../queues/emissions.ts";
import { eventScore } from "../store/event-id.ts";
import { streamOf } from "../store/event-log.ts";
import { isDuplicateKey } from "../store/mongo.ts";
import { matchSubscriptions } from "../subscriptions/match.ts";
import { countDrop } from "./drops.ts";
import { type EmitPlatform, fanOut } from "./fan-out.ts";
import { findEmitter } from "./find-emitter.ts";
import { payloadId, type StoredEvent, StoredEvents } from "./model.ts";
import { truncate } from "./truncate.ts";

/**
 * Takes one emission off its queue: gives it its event id, stores the summary, and hands it to every listener that
 * subscribed. May be repeated at any point: the emit id gets its event id back, and deliveries have derived ids.
 * Throws `not-found` when the emitter is gone.
 */
export async function emit(platform: EmitPlatform, emission: EmissionsJob): Promise<Record<string, unknown>> {
  const emitter = await findEmitter(platform, emission.emitter_id);
  if (!emitter) throw notFound("emitter");
  const channel = emission.name ?? "";
  const stream = streamOf(channel);
  const { value, truncated } = truncate(summaryEvent(channel, emission.event));

  const [appended, { subscriptions, filtered }] = await Promise.all([
    platform.eventLog.append(
      emitter.id,
      stream,
      {
        event: value as Record<string, unknown>,
        metadata: {
          emit_id: emission.emit_id,
          name: channel,
          emitter_id: emitter.id,
          ...(emission.summary !== undefined && { summary: emission.summary }),
          ...(truncated && { truncated: true as const }),
        },
      },
      emission.score,
    ),
    matchSubscriptions(platform, emitter, channel, emission.event),
  ]);

  const stored: StoredEvent = {
    _id: payloadId(emitter.id, emission.emit_id),
    emitter_id: emitter.id,
    owner_id: emitter.owner_id,
    event_id: appended.eventId,
    score: eventScore(appended.eventId) ?? 0,
    name: channel,
    event: JSON.stringify(emission.event),
    delivered: subscriptions.some(subscription => subscription.listener_id.startsWith("wh_")),
    created_at: new Date(platform.clock()),
  };
  const event = truncated || stored.delivered ? await storeOnce(platform, stored) : stored;

  if (appended.isNew) {
    if (subscriptions.length === 0 && filtered === 0) await countDrop(platform, emitter.id, "no-listener");
    await countDrop(platform, emitter.id, "filtered", filtered);
    if (truncated) await countDrop(platform, emitter.id, "truncated");
  }
  const listeners = await fanOut(platform, event, subscriptions, emission);
  await forgetTrimmed(platform, emitter.id, appended.trimmed);
  platform.counters.add("emissions_total", { stream });
  return { emitter_id: emitter.id, event_id: event.event_id, emit_id: emission.emit_id, channel, listeners };
}

/** Emitted data stands under `raw_event`; errors and logs are objects of the platform's own (rest-api.md, section 2). */
export function summaryEvent(channel: string, event: unknown): Record<string, unknown> {
  const isObject = typeof event === "object" && event !== null && !Array.isArray(event);
  return channel.startsWith("$") && isObject ? { ...event } : { raw_event: event };
}

/** Inserts the payload; when an earlier try did, that one stands, with the event id it had. */
async function storeOnce(platform: EmitPlatform, event: StoredEvent): Promise<StoredEvent> {
  try {
    await StoredEvents(platform.mongo).insertOne(event);
    return event;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return (await StoredEvents(platform.mongo).findById(event._id).lean()) ?? event;
  }
}

/** Payloads kept only for their summary go with it. */
async function forgetTrimmed(platform: EmitPlatform, emitterId: string, eventIds: string[]): Promise<void> {
  if (eventIds.length === 0) return;
  await StoredEvents(platform.mongo).deleteMany({
    emitter_id: emitterId,
    score: { $in: eventIds.map(id => eventScore(id) ?? -1) },
    delivered: false,
  });
}
