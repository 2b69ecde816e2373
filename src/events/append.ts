import { groupBy } from "../lib/group-by.ts";
import type { Emission } from "../queues/emissions.ts";
import { type LogEntry, streamOf } from "../store/event-log.ts";
import type { EventStream } from "../store/keys.ts";
import type { Emitter } from "../subscriptions/match.ts";
import type { Trimmed } from "./delete-trimmed.ts";
import type { EmitPlatform } from "./fan-out.ts";
import { findEmitters } from "./find-emitter.ts";
import { truncate } from "./truncate.ts";

/** An emission whose emitter exists. */
export interface Known {
  place: number;
  emission: Emission;
  emitter: Emitter;
  channel: string;
}
type Summarized = Known & { stream: EventStream; entry: LogEntry; truncated: boolean };
/** It has its event id, and its summary is stored. */
export type Appended = Summarized & { eventId: string; isNew: boolean };
export interface AppendedAll {
  /** In the order of their emissions. */
  events: Appended[];
  trimmed: Trimmed[];
}

/** Emitted data stands under `raw_event`; errors and logs are objects of the platform's own (rest-api.md, section 2). */
export function summaryEvent(channel: string, event: unknown): Record<string, unknown> {
  const isObject = typeof event === "object" && event !== null && !Array.isArray(event);
  return channel.startsWith("$") && isObject ? { ...event } : { raw_event: event };
}

function summarized(known: Known): Summarized {
  const { emission, emitter, channel } = known;
  const { value, truncated } = truncate(summaryEvent(channel, emission.event));
  const summary = {
    event: value as Record<string, unknown>,
    metadata: {
      emit_id: emission.emit_id,
      name: channel,
      emitter_id: emitter.id,
      ...(emission.summary !== undefined && { summary: emission.summary }),
      ...(truncated && { truncated: true as const }),
    },
  };
  return { ...known, stream: streamOf(channel), truncated, entry: { summary, reserved: emission.score } };
}

/**
 * Gives those whose emitter exists their event ids. Emitters are looked up in the directory while Redis is asked whether
 * that still holds: for one that turns out to be gone, what was just written goes too.
 */
export async function appendKnown(platform: EmitPlatform, emissions: Emission[]): Promise<AppendedAll> {
  const ids = emissions.map(one => one.emitter_id);
  const emitters = await findEmitters(platform, ids);
  const known = emissions.flatMap((emission, place) => {
    const emitter = emitters.get(emission.emitter_id);
    return emitter ? [{ place, emission, emitter, channel: emission.name ?? "" }] : [];
  });
  const [appended, isOutdated] = await Promise.all([
    appendAll(platform, known.map(summarized)),
    platform.directory.refresh(),
  ]);
  if (!isOutdated) return appended;
  const still = await findEmitters(platform, ids);
  for (const id of emitters.keys()) if (!still.has(id)) await platform.eventLog.forget(id);
  return { ...appended, events: appended.events.filter(({ emitter }) => still.has(emitter.id)) };
}

/** Gives all their event ids, each stream's in one go. */
async function appendAll(platform: EmitPlatform, entries: Summarized[]): Promise<AppendedAll> {
  const streams = groupBy(entries, ({ emitter, stream }) => `${emitter.id} ${stream}`);
  const events: Appended[] = [];
  const trimmed: Trimmed[] = [];
  await Promise.all(
    [...streams.values()].map(async of => {
      const [{ emitter, stream } = entries[0] as Summarized] = of;
      const appended = await platform.eventLog.append(
        emitter.id,
        stream,
        of.map(({ entry }) => entry),
      );
      for (const [i, one] of of.entries()) {
        const { eventId = "", isNew = false } = appended.events[i] ?? {};
        events.push({ ...one, eventId, isNew });
      }
      if (appended.trimmed.length > 0) trimmed.push({ emitterId: emitter.id, eventIds: appended.trimmed });
    }),
  );
  events.sort((a, b) => a.place - b.place);
  return { events, trimmed };
}
