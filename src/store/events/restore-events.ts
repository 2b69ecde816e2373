import { AppError } from "../../lib/errors.ts";
import { eventScore } from "../../lib/ids.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { EventStream } from "../keys.ts";
import { script } from "../lua.ts";
import { type ArchiveDeps, archiveKeys, findArchive, isHere } from "./event-archive.ts";
import { type EventSummary, STREAMS, summariesOf, summaryOf } from "./event-summary.ts";

const placeOf = script<[place: string, nowMs: number]>("place-of-events");
const restore = script<number>("stored-events", "restore-events");

/**
 * An archive that was read longer ago may have been replaced: an emitter whose events came to Redis stays there for much
 * longer. Milliseconds.
 */
const BELIEVED_MS = 30_000;
const TRIES = 5;

/**
 * Returns a function that does what needs an emitter's events in Redis: `act` returns undefined if they may be in the
 * archive. Then they are restored from there, once for all that wait for it in this process, and it is done again; what waits
 * keeps its order. Throws `unavailable`.
 */
export function openRestoring(deps: ArchiveDeps) {
  const underWay = new Map<string, Promise<void>>();

  const restoreOnce = (emitterId: string): Promise<void> => {
    const known = underWay.get(emitterId);
    if (known) return known;
    const begun = restoreEvents(deps, emitterId).finally(() => underWay.delete(emitterId));
    underWay.set(emitterId, begun);
    return begun;
  };

  return async <T>(emitterId: string, act: () => Promise<T | undefined>): Promise<T> => {
    const begun = underWay.get(emitterId);
    if (begun) await begun;
    for (let tries = 0; tries < TRIES; tries++) {
      const result = await act();
      if (result !== undefined) return result;
      await restoreOnce(emitterId);
    }
    throw outdated();
  };
}

/**
 * Brings an emitter's events and drop counts from its archive to Redis, unless they are there, together with what Redis
 * has of them. Throws `unavailable`.
 */
export async function restoreEvents(deps: ArchiveDeps, emitterId: string): Promise<void> {
  const { redis, keys } = deps;
  const [place, nowMs] = await placeOf(redis, [keys.eventsPlace(emitterId)], []);
  if (isHere(place)) return;
  const archive = await findArchive(deps, emitterId);
  const drops = (archive?.drops ?? []).flat();
  const streams = STREAMS.map(stream =>
    (archive?.streams[stream] ?? []).flatMap(([id, summary]) => [eventScore(id) ?? 0, id, summary]),
  );
  const isRestored = await restore(redis, archiveKeys(keys, emitterId), [
    nowMs,
    BELIEVED_MS,
    archive?.version ?? "",
    LIMITS.eventsKept.value,
    archive?.last_score ?? 0,
    ...[drops, ...streams].flatMap(values => [values.length, ...values]),
  ]);
  if (isRestored === 0) throw outdated();
}

const outdated = () =>
  new AppError("unavailable", "an emitter's archive can't be read yet", { retryAfterMs: 1000 });

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
