import { JsonText, jsonTextOf } from "../lib/json-text.ts";
import { groupBy } from "../lib/lists.ts";
import type { Working } from "../platform.ts";
import type { Emission } from "../queues/emissions.ts";
import type { LogEntry } from "../store/events/event-log.ts";
import { streamOf } from "../store/events/event-summary.ts";
import { isGone } from "../store/gone.ts";
import type { EventStream } from "../store/keys.ts";
import type { Emitter } from "../subscriptions/match.ts";
import { holdForEmissions, type Release } from "../webhooks/hold-for-emissions.ts";
import { findEmitters } from "./find.ts";
import type { TrimmedEvents } from "./stored-events.ts";
import { truncateJson } from "./truncate.ts";

/** An emission whose emitter exists. */
export interface KnownEmission {
  /** Its index among the emissions handled together. */
  index: number;
  emission: Emission;
  emitter: Emitter;
  channel: string;
}
/** `json`: the event, whose text is stored. */
type Summarized = KnownEmission & {
  stream: EventStream;
  entry: LogEntry;
  truncated: boolean;
  json: JsonText;
};
/** An emission that has its event id and whose summary is stored. */
export type AppendedEmission = Summarized & { eventId: string; isNew: boolean };
export interface AppendResult {
  /** In the order of their emissions. */
  events: AppendedEmission[];
  trimmed: TrimmedEvents[];
  /** Indexes of the emissions whose emitter was not found and may exist nevertheless (src/store/gone.ts). */
  uncertain: Set<number>;
  /** To be called once the events are stored. */
  release: Release;
}

/**
 * Emitted data is under `raw_event`; errors and logs are the platform's own objects (docs/rest-api.md#event-summary). In one
 * line, because readers of streams expect that: line breaks of JSON are between its tokens only.
 */
export function summaryEvent(channel: string, { text }: JsonText): string {
  const line = text.includes("\n") || text.includes("\r") ? text.replace(/[\r\n]+/g, " ") : text;
  return channel.startsWith("$") && line.trimStart().startsWith("{") ? line : `{"raw_event":${line}}`;
}

function summarize(known: KnownEmission): Summarized {
  const { emission, emitter, channel } = known;
  const json = jsonTextOf(emission.event);
  const { json: event, truncated } = truncateJson(summaryEvent(channel, json));
  const summary = {
    event: new JsonText(event),
    metadata: {
      emit_id: emission.emit_id,
      name: channel,
      emitter_id: emitter.id,
      ...(emission.summary !== undefined && { summary: emission.summary }),
      ...(emission.ts !== undefined && { ts: emission.ts }),
      ...(truncated && { truncated: true as const }),
    },
  };
  return {
    ...known,
    json,
    stream: streamOf(channel),
    truncated,
    entry: { summary, reserved: emission.score },
  };
}

/**
 * Gives event ids to the emissions whose emitter exists. Emitters are looked up in the routing cache while Redis is asked
 * whether the cache is current; for an emitter that turns out to be deleted, what was just written is deleted too.
 */
export async function appendEmissions(platform: Working, emissions: Emission[]): Promise<AppendResult> {
  const ids = emissions.map(emission => emission.emitter_id);
  const emitters = await findEmitters(platform, ids);
  const known = emissions.flatMap((emission, index) => {
    const emitter = emitters.get(emission.emitter_id);
    return emitter ? [{ index, emission, emitter, channel: emission.name ?? "" }] : [];
  });
  const release = await holdForEmissions(
    platform,
    known.map(({ emission, emitter }) => ({ ...emission, ownerId: emitter.owner_id })),
  );
  const [appended, isOutdated] = await Promise.all([
    appendAll(platform, known.map(summarize)),
    platform.routing.refresh(),
  ]);
  const existing = isOutdated ? await findEmitters(platform, ids) : emitters;
  const uncertain = await findUncertain(
    platform,
    ids.filter(id => !existing.has(id)),
  );
  for (const id of emitters.keys()) {
    if (!existing.has(id) && !uncertain.has(id)) await platform.eventLog.delete(id);
  }
  return {
    ...appended,
    release,
    events: appended.events.filter(({ emitter }) => existing.has(emitter.id)),
    uncertain: new Set(ids.flatMap((id, index) => (uncertain.has(id) ? [index] : []))),
  };
}

/** Those of the emitters, which were not found, that may exist nevertheless. */
async function findUncertain(platform: Working, missing: string[]): Promise<Set<string>> {
  const uncertain = new Set<string>();
  for (const id of new Set(missing)) if (!(await isGone(platform, id))) uncertain.add(id);
  return uncertain;
}

/** One command for each stream. */
async function appendAll(
  platform: Working,
  all: Summarized[],
): Promise<Pick<AppendResult, "events" | "trimmed">> {
  const streams = groupBy(all, ({ emitter, stream }) => `${emitter.id} ${stream}`);
  const events: AppendedEmission[] = [];
  const trimmed: TrimmedEvents[] = [];
  await Promise.all(
    [...streams.values()].map(async emissions => {
      const [first] = emissions;
      if (!first) return;
      const { emitter, stream } = first;
      const entries = emissions.map(({ entry }) => entry);
      const appended = await platform.eventLog.append(emitter.id, stream, entries);
      for (const [i, emission] of emissions.entries()) {
        const { eventId = "", isNew = false } = appended.events[i] ?? {};
        events.push({ ...emission, eventId, isNew });
      }
      if (appended.trimmed.length > 0) trimmed.push({ emitterId: emitter.id, eventIds: appended.trimmed });
    }),
  );
  events.sort((a, b) => a.index - b.index);
  return { events, trimmed };
}
