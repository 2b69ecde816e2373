import type { Connection } from "mongoose";
import { createBatcher, createDeferredBatcher } from "../lib/batcher.ts";
import { failpoint } from "../lib/failpoint.ts";
import { newToken } from "../lib/ids.ts";
import { stringifyJson } from "../lib/json-text.ts";
import { openPer } from "../lib/lazy.ts";
import { MB } from "../limits/limit.ts";
import { type Accepted, AcceptedWork } from "../models/accepted.ts";
import type { Queued, Stores } from "../platform.ts";
import { enqueueAll } from "../queues/define-queue.ts";
import { accountOf, type EmissionsJob, emissions } from "../queues/emissions.ts";
import type { TriggerItem } from "../queues/run-item.ts";
import { enqueueRuns } from "../queues/runs.ts";
import { insertMissing } from "../store/connections/mongo.ts";
import type { QueueBounds } from "../store/runs/run-queue.ts";

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
export const lostAfterMs = ({ config }: Stores): number => Math.min(GRACE_MS, config.sweepEveryMs);

type Row = Omit<Accepted, "check_at">;

/** Stores what is about to be enqueued, with what others store at the same time. Throws `unavailable`. */
async function keep(platform: Stores, rows: Row[]): Promise<void> {
  const graceMs = lostAfterMs(platform);
  const insert = keeperOf(platform.mongo).insert;
  await insert(rows.map(row => ({ ...row, check_at: new Date(row.at_ms + graceMs) })));
}

/** Deletes what was not accepted after all, or is handled elsewhere. Throws `unavailable`. */
export async function deleteKept({ mongo }: { mongo: Connection }, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  // Not by a majority: what a failover brings back is only found handled once more.
  await AcceptedWork(mongo).deleteMany({ _id: { $in: ids } }, { writeConcern: { w: 1 } });
}

/** Deletes what is handled, a little later, with others. If that fails, the sweep finds that it is handled. */
export function deleteKeptLater({ mongo }: Stores, ids: string[]): void {
  keeperOf(mongo).delete(ids);
}

interface Keeper {
  insert: (rows: Accepted[]) => Promise<void>;
  delete: (ids: string[]) => void;
}

const keeperOf = openPer((mongo: Connection): Keeper => {
  const weigh = (rows: Accepted[]) => rows.reduce((sum, { body }) => sum + ROW_CHARS + body.length, 0);
  const insert = async (batch: Accepted[][]) => void (await insertMissing(AcceptedWork(mongo), batch.flat()));
  return {
    insert: createBatcher(insert, { ...BATCH, weigh }),
    delete: createDeferredBatcher<string>(
      ids => deleteKept({ mongo }, ids),
      () => undefined,
    ),
  };
});

type RowToKeep = Pick<Accepted, "_id" | "kind" | "owner_id" | "source_id" | "body">;

/**
 * Stores rows in MongoDB, and then calls `enqueue`; if that fails, nothing was accepted, and the rows are deleted. Throws as
 * `enqueue` does, and `unavailable`. `stored` is the failpoint in between.
 */
async function withKept<T>(
  platform: Stores,
  rows: RowToKeep[],
  stored: string,
  enqueue: () => Promise<T>,
): Promise<T> {
  const at_ms = platform.clock();
  await keep(
    platform,
    rows.map(row => ({ ...row, at_ms })),
  );
  failpoint(stored);
  try {
    return await enqueue();
  } catch (error) {
    const ids = rows.map(({ _id }) => _id);
    await deleteKept(platform, ids).catch(() => undefined);
    throw error;
  }
}

/**
 * Enqueues runs of one source so that they are as safe as the settings promise: in MongoDB before
 * (`DURABLE_INGRESS=mongodb`), on replicas of Redis after (`replicas`). Returns for each whether it was accepted or
 * the queue was full. Throws as `enqueueRuns` and `Replicas.confirm` do; after the latter the runs may happen all the same.
 */
export async function acceptRuns(
  platform: Stores & Queued,
  sourceId: string,
  items: TriggerItem[],
  bounds: QueueBounds,
): Promise<boolean[]> {
  const push = (some: TriggerItem[]) =>
    platform.replicas.confirmed(() => enqueueRuns(platform, sourceId, some, bounds));
  if (!platform.config.durableIngress) return await push(items);
  const kept = items.map(item => ({ ...item, kept: true as const }));
  const rows = kept.map(item => ({
    _id: item.run_id,
    kind: "run" as const,
    owner_id: bounds.ownerId,
    source_id: sourceId,
    body: stringifyJson(item),
  }));
  return await withKept(platform, rows, "runs-kept", async () => {
    const accepted = await push(kept);
    const rejected = kept.filter((_, i) => !accepted[i]).map(({ run_id }) => run_id);
    await deleteKept(platform, rejected);
    return accepted;
  });
}

/**
 * Enqueues jobs of emissions in one round trip, all or none. With `DURABLE_INGRESS=mongodb`, MongoDB has them before, until
 * they are handled. Throws as `enqueueAll` does.
 */
export async function enqueueEmissionJobs(platform: Stores & Queued, jobs: EmissionsJob[]): Promise<void> {
  if (jobs.length === 0) return;
  const enqueue = (some: EmissionsJob[]) => enqueueAll(platform.queues, emissions.jobs.emissions, some);
  if (!platform.config.durableIngress) return await enqueue(jobs);
  const kept = jobs.map(job => ({ ...job, kept: newToken() }));
  const rows = kept.map(job => ({
    _id: job.kept,
    kind: "emissions" as const,
    owner_id: accountOf(job),
    body: stringifyJson(job),
  }));
  await withKept(platform, rows, "emissions-kept", () => enqueue(kept));
}
