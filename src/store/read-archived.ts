import { eventScore } from "../lib/event-id.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type ArchiveDeps, findArchive, isHere } from "./event-archive.ts";
import { type EventSummary, summariesOf, summaryOf } from "./event-summary.ts";
import type { EventStream } from "./keys.ts";
import { script } from "./lua.ts";

const page = script<[place: string, total: number, ...pairs: string[]]>("page-events");

/**
 * Returns a stream of an emitter whose events may be in its archive, oldest first; undefined if they are in Redis. Redis is
 * read first: what another process restores while MongoDB is read is still in the archive. Throws `unavailable`.
 */
export async function readArchived(
  deps: ArchiveDeps,
  emitterId: string,
  stream: EventStream,
): Promise<EventSummary[] | undefined> {
  const { redis, keys } = deps;
  const kept = LIMITS.eventsKept.value;
  const [place, , ...pairs] = await page(
    redis,
    [keys.eventsPlace(emitterId), keys.eventIds(emitterId, stream), keys.eventSummaries(emitterId, stream)],
    ["ZREVRANGEBYSCORE", "+inf", "-inf", kept],
  );
  if (isHere(place)) return undefined;
  const archive = await findArchive(deps, emitterId);
  const byId = new Map<string, EventSummary>();
  for (const [id, summary] of archive?.streams[stream] ?? []) byId.set(id, summaryOf(id, summary));
  for (const summary of summariesOf(pairs)) byId.set(summary.id, summary);
  const scoreOf = ({ id }: EventSummary) => eventScore(id) ?? 0;
  return [...byId.values()].sort((one, other) => scoreOf(one) - scoreOf(other)).slice(-kept);
}
