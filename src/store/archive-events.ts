import { newToken, SLOTS_PER_MS } from "../lib/ids.ts";
import {
  type ArchiveDeps,
  type ArchivedEvent,
  archiveKeys,
  type EventArchive,
  EventArchives,
} from "./event-archive.ts";
import { STREAMS } from "./event-summary.ts";
import type { EventStream } from "./keys.ts";
import { script } from "./lua.ts";

const snapshot = script<string[]>("stored-events", "event-snapshot", "snapshot-events");
const removeArchived = script<number>("stored-events", "event-snapshot", "remove-archived");

/** For this long a read of MongoDB right after a failover, which may lag behind, is found out. Milliseconds. */
const VERSION_KEPT_MS = 600_000;

/**
 * Moves what Redis holds of those of the emitters that were silent for `silentMs` to their archives in MongoDB; returns
 * which it moved. An archive is written before anything is removed from Redis, and nothing is if something came in
 * between. Throws `unavailable`; safe to repeat.
 */
export async function archiveEvents(
  deps: ArchiveDeps,
  emitterIds: readonly string[],
  silentMs: number,
): Promise<string[]> {
  const read = await Promise.all(emitterIds.map(id => readSilent(deps, id, silentMs)));
  const silent = read.flatMap(one => one ?? []);
  if (silent.length === 0) return [];
  await EventArchives(deps.mongo).bulkWrite(
    silent.map(({ archive }) => ({
      replaceOne: { filter: { _id: archive._id }, replacement: archive, upsert: true },
    })),
    { ordered: false },
  );
  const removed = await Promise.all(
    silent.map(({ archive: { _id, version }, digest }) =>
      removeArchived(deps.redis, archiveKeys(deps.keys, _id), [digest, version, VERSION_KEPT_MS]),
    ),
  );
  const changed = silent.filter((_, i) => removed[i] === 0);
  await removeArchives(
    deps,
    changed.map(({ archive }) => archive),
  );
  return silent.filter((_, i) => removed[i] === 1).map(({ archive }) => archive._id);
}

/** Deletes archives that were never valid, because their emitters' events stayed in Redis. */
async function removeArchives({ mongo }: ArchiveDeps, archives: EventArchive[]): Promise<void> {
  if (archives.length === 0) return;
  await EventArchives(mongo).deleteMany({
    version: { $in: archives.map(({ version }) => version) },
    _id: { $in: archives.map(({ _id }) => _id) },
  });
}

async function readSilent(
  { redis, keys }: ArchiveDeps,
  emitterId: string,
  silentMs: number,
): Promise<{ archive: EventArchive; digest: string } | null> {
  const [digest, lastScore, ...rest] = await snapshot(redis, archiveKeys(keys, emitterId), [
    silentMs,
    SLOTS_PER_MS,
  ]);
  if (digest === undefined) return null;
  const parts = rest[Symbol.iterator]();
  /** The next list: its length, and so many values, two by two. */
  const readPairs = (): [string, string][] => {
    const length = Number(parts.next().value);
    return Array.from({ length: length / 2 }, () => [String(parts.next().value), String(parts.next().value)]);
  };
  const archive: EventArchive = {
    _id: emitterId,
    version: newToken(),
    archived_at: new Date(),
    last_score: Number(lastScore),
    drops: readPairs().map(([reason, count]) => [reason, Number(count)]),
    streams: Object.fromEntries(STREAMS.map(stream => [stream, readPairs() as ArchivedEvent[]])) as Record<
      EventStream,
      ArchivedEvent[]
    >,
  };
  return { archive, digest };
}
