import { acceptRuns } from "../accepted/keep.ts";
import { queueBounds } from "../accounts/limits.ts";
import { createBatcher } from "../lib/batcher.ts";
import { groupBy } from "../lib/lists.ts";
import type { Source } from "../models/source.ts";
import type { Queued, Stores } from "../platform.ts";
import type { TriggerItem } from "../queues/run-item.ts";
import { runQueueIsFull } from "../queues/runs.ts";

/** Requests that arrive at the same time share one query and one round trip to Redis; at most this many. */
export const BATCH_SIZE = 100;
/** Characters of a body that count as one request of a batch, so that large ones don't make a command of 100 MB. */
const CHARS_PER_UNIT = 16 * 1024;

interface Entry {
  source: Pick<Source, "_id" | "owner_id">;
  item: TriggerItem;
  /** Characters of the request's body. */
  chars: number;
}
export type Enqueue = (entry: Entry) => Promise<void>;

/** Returns a function that accepts a run. Throws as `acceptRuns` does, and `rate-limited` if the run does not fit. */
export function createEnqueue(platform: Stores & Queued): Enqueue {
  const add = createBatcher(
    async (entries: Entry[]) => {
      const accepted = new Map<TriggerItem, boolean>();
      const bySource = groupBy(entries, entry => entry.source._id);
      await Promise.all(
        [...bySource].map(async ([sourceId, ofSource]) => {
          const items = ofSource.map(({ item }) => item);
          const bounds = await queueBounds(platform, ofSource[0]?.source.owner_id ?? "");
          for (const [i, ok] of (await acceptRuns(platform, sourceId, items, bounds)).entries()) {
            accepted.set(items[i] as TriggerItem, ok);
          }
        }),
      );
      return entries.map(({ item }) => accepted.get(item) ?? false);
    },
    // One batch at a time, so that runs keep the order in which their requests arrived.
    { maxWeight: BATCH_SIZE, weigh: entry => 1 + Math.floor(entry.chars / CHARS_PER_UNIT) },
  );
  return async entry => {
    if (!(await add(entry))) throw runQueueIsFull();
  };
}
