import type { Connection } from "mongoose";
import { createBatcher, createDeferredBatcher } from "../lib/batcher.ts";
import { MB } from "../limits/limit.ts";
import { type Accepted, AcceptedWork } from "../models/accepted.ts";
import type { Platform } from "../platform.ts";
import { duplicateIndexes } from "../store/mongo.ts";

/**
 * Longer than any process takes from the row to the queue, and so long that MongoDB is asked whether an emission is an event
 * already (`isYoung` in src/events/emit.ts). Milliseconds.
 */
const GRACE_MS = 30_000;

/** Characters in one insert, and inserts at a time. */
const BATCH = { maxWeight: 8 * MB, concurrency: 4 };
/** What a row costs besides its text. */
const ROW_CHARS = 1024;

/** Returns how long after it was enqueued something that neither Redis nor MongoDB has handled counts as lost. */
export const lostAfterMs = ({ config }: Pick<Platform, "config">): number =>
  Math.min(GRACE_MS, config.sweepEveryMs);

type Row = Omit<Accepted, "check_at">;
type Deps = Pick<Platform, "mongo" | "config">;

/** Stores what is about to be enqueued, with what others store at the same time. Throws `unavailable`. */
export async function keep(platform: Deps, rows: Row[]): Promise<void> {
  const graceMs = lostAfterMs(platform);
  const insert = keeperOf(platform.mongo).insert;
  await insert(rows.map(row => ({ ...row, check_at: new Date(row.at_ms + graceMs) })));
}

/** Deletes what was not accepted after all, or is handled elsewhere. Throws `unavailable`. */
export async function deleteKept({ mongo }: Pick<Platform, "mongo">, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  // Not by a majority: what a failover brings back is only found handled once more.
  await AcceptedWork(mongo).deleteMany({ _id: { $in: ids } }, { writeConcern: { w: 1 } });
}

/** Deletes what is handled, a little later, with others. If that fails, the sweep finds that it is handled. */
export function deleteKeptLater({ mongo }: Pick<Platform, "mongo">, ids: string[]): void {
  keeperOf(mongo).delete(ids);
}

interface Keeper {
  insert: (rows: Accepted[]) => Promise<void>;
  delete: (ids: string[]) => void;
}

const keepers = new WeakMap<Connection, Keeper>();

function keeperOf(mongo: Connection): Keeper {
  const known = keepers.get(mongo);
  if (known) return known;
  const weigh = (rows: Accepted[]) => rows.reduce((sum, { body }) => sum + ROW_CHARS + body.length, 0);
  const keeper: Keeper = {
    insert: createBatcher((batch: Accepted[][]) => insertAll(mongo, batch.flat()), { ...BATCH, weigh }),
    delete: createDeferredBatcher<string>(
      ids => deleteKept({ mongo }, ids),
      () => undefined,
    ),
  };
  keepers.set(mongo, keeper);
  return keeper;
}

async function insertAll(mongo: Connection, rows: Accepted[]): Promise<void> {
  try {
    await AcceptedWork(mongo).insertMany(rows, { ordered: false, lean: true });
  } catch (error) {
    if (!duplicateIndexes(error)) throw error;
  }
}
