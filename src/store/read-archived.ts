import { eventScore } from "../lib/ids.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type ArchiveDeps, findArchive, isHere } from "./event-archive.ts";
import { type EventSummary, summariesOf, summaryOf } from "./event-summary.ts";
import type { EventStream } from "./keys.ts";
import { script } from "./lua.ts";

const page = script<Page>("stored-events", "page-events");

type Page = [place: string, total: number, ...pairs: string[]];

/**
 * Returns what Redis has of a page of a stream: the place of the emitter's events, how many the stream has, then id and
 * summary of each. `range` is a command, where it begins, where it ends, and most events. Throws `unavailable`.
 */
export async function readPage(
  { redis, keys }: Pick<ArchiveDeps, "redis" | "keys">,
  emitterId: string,
  stream: EventStream,
  range: (string | number)[],
): Promise<Page> {
  const key = [
    keys.eventsPlace(emitterId),
    keys.eventIds(emitterId, stream),
    keys.eventSummaries(emitterId, stream),
  ];
  return await page(redis, key, range);
}

/**
 * Returns a stream of an emitter whose events may be in its archive, oldest first; undefined if they are in Redis. Redis is
 * read first: what another process restores while MongoDB is read is still in the archive. Throws `unavailable`.
 */
export async function readArchived(
  deps: ArchiveDeps,
  emitterId: string,
  stream: EventStream,
): Promise<EventSummary[] | undefined> {
  const kept = LIMITS.eventsKept.value;
  const all = ["ZREVRANGEBYSCORE", "+inf", "-inf", kept];
  const [place, , ...pairs] = await readPage(deps, emitterId, stream, all);
  if (isHere(place)) return undefined;
  const archive = await findArchive(deps, emitterId);
  const byId = new Map<string, EventSummary>();
  for (const [id, summary] of archive?.streams[stream] ?? []) byId.set(id, summaryOf(id, summary));
  for (const summary of summariesOf(pairs)) byId.set(summary.id, summary);
  const scoreOf = ({ id }: EventSummary) => eventScore(id) ?? 0;
  return [...byId.values()].sort((one, other) => scoreOf(one) - scoreOf(other)).slice(-kept);
}
