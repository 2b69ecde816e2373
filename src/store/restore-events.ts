import { AppError } from "../lib/errors.ts";
import { eventScore } from "../lib/ids.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type ArchiveDeps, archiveKeys, findArchive, isHere } from "./event-archive.ts";
import { STREAMS } from "./event-summary.ts";
import { script } from "./lua.ts";

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
