import { findAccounts } from "../accounts/organizations.ts";
import { isAccountId } from "../alerts/raise.ts";
import { divide } from "../lib/divide.ts";
import { SLOTS_PER_MS } from "../lib/ids.ts";
import type { Part } from "../lib/part.ts";
import { Sources } from "../models/source.ts";
import { Workflows } from "../models/workflow.ts";
import type { Stores } from "../platform.ts";
import { archiveEvents, EventArchives, hereSince } from "../store/events/event-archive.ts";
import { SILENT_EMITTER_MS } from "../store/events/event-log.ts";
import { restoreEvents } from "../store/events/restore-events.ts";
import { isGone } from "../store/gone.ts";
import { scanKeys } from "../store/scan-keys.ts";
import { repairAll, repairEach } from "../store/sweeps/repair-each.ts";
import type { SweepBatch, SweepBounds } from "../store/sweeps/sweep-turns.ts";

const STEP = "silent_emitters";
/** Keys of any kind looked at in one batch: a millisecond of Redis' time. */
const SCANNED = 1000;
/** A million keys of a master in 50 minutes; an installation with few is looked through every ten. */
export const SILENT_EMITTERS_BOUNDS: SweepBounds = { batches: 10, everyMs: 600_000 };
/** Emitters archived together: each is at most some MB, and most are some KB. */
const ARCHIVED_AT_ONCE = 20;

/**
 * Moves the events and drop counts of emitters that were silent for `silentMs` from Redis to MongoDB, and removes what was
 * left of emitters that are deleted. Emitters of older versions, and those that have only drop counts, are noted with the
 * present time first, and moved when they were silent for so long again (docs/decisions/0032-memory-by-activity.md).
 */
export function beginSilentEmitterSweep(
  platform: Stores,
  part: Part,
  silentMs = SILENT_EMITTER_MS,
): SweepBatch {
  return async cursor => {
    const { found, next } = await scanKeys(platform.redis, cursor, platform.keys.tagged(), SCANNED, part);
    const { silent, unplaced } = await lookAt(platform, found, silentMs);
    const existing = await findExisting(platform, [...silent, ...unplaced]);
    const isReady = (id: string) => existing.get(id) === true;
    await repairEach(platform, unplaced.filter(isReady), {
      step: STEP,
      idOf: id => id,
      repair: async id => {
        await restoreEvents(platform, id);
        return true;
      },
    });
    for (const ids of divide(silent.filter(isReady), ARCHIVED_AT_ONCE, () => 1)) {
      await repairAll(platform, ids, {
        step: STEP,
        idOf: id => id,
        repair: some => archive(platform, some, silentMs),
      });
    }
    for (const id of [...silent, ...unplaced]) {
      if (!existing.has(id) && (await isGone(platform, id))) await platform.eventLog.delete(id);
    }
    // Nothing was wrong.
    return { repaired: 0, next };
  };
}

const EMITTER_KEY = /:\{([^{}]+)\}:(events-place|last-score|drops)$/;

/** Sorts out the emitters that seem to be silent, and those of which Redis has something and no place. */
async function lookAt(
  { redis, keys, clock }: Stores,
  found: string[],
  silentMs: number,
): Promise<{ silent: string[]; unplaced: string[] }> {
  const keysOf = new Map<string, Set<string>>();
  for (const key of found) {
    const [, id, name] = EMITTER_KEY.exec(key) ?? [];
    if (id !== undefined && name !== undefined) keysOf.set(id, (keysOf.get(id) ?? new Set()).add(name));
  }
  const ids = [...keysOf.keys()];
  const values = await Promise.all(ids.map(id => redis.mget(keys.eventsPlace(id), keys.lastEventScore(id))));
  const now = clock();
  const silent: string[] = [];
  const unplaced: string[] = [];
  for (const [i, id] of ids.entries()) {
    const [place, score] = values[i] ?? [];
    const sinceMs = hereSince(place ?? "");
    if (sinceMs === null) {
      if (keysOf.get(id)?.has("last-score") || keysOf.get(id)?.has("drops")) unplaced.push(id);
    } else if (now - Math.max(sinceMs, Number(score ?? 0) / SLOTS_PER_MS) >= silentMs) {
      silent.push(id);
    }
  }
  return { silent, unplaced };
}

/** Returns which of the emitters exist: true for those that are neither being deployed nor deleted. */
async function findExisting(platform: Stores, ids: string[]): Promise<Map<string, boolean>> {
  const { mongo } = platform;
  if (ids.length === 0) return new Map();
  const [accounts, sources, workflows] = await Promise.all([
    findAccounts(platform, ids.filter(isAccountId)),
    Sources(mongo)
      .find({ _id: { $in: ids } }, { state: 1 })
      .lean(),
    Workflows(mongo)
      .find({ _id: { $in: ids } }, { _id: 1 })
      .lean(),
  ]);
  return new Map([
    ...sources.map(({ _id, state }) => [_id, state === "ready"] as const),
    ...[...workflows, ...accounts].map(({ _id }) => [_id, true] as const),
  ]);
}

async function archive(platform: Stores, emitterIds: string[], silentMs: number): Promise<number> {
  const archived = await archiveEvents(platform, emitterIds, silentMs);
  // One that was deleted in between would leave its archive behind for ever.
  const existing = await findExisting(platform, archived);
  const deleted = archived.filter(id => existing.get(id) !== true);
  if (deleted.length > 0) await EventArchives(platform.mongo).deleteMany({ _id: { $in: deleted } });
  return archived.length;
}
