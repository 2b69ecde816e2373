import { FIRST_OF_ACCOUNT } from "./constants.ts";

/** Which items the next batch holds: all that are due, or all but those of some accounts. Part of a query. */
export interface OfAccounts {
  owner_id?: { $nin: string[] };
}

/** A batch of a turn. */
export interface FairBatch<Item> {
  items: Item[];
  /** True if nothing is left behind it. */
  isLast: boolean;
}

/**
 * Reads what is due in batches of `size`, fairly between accounts: an account that had its first part of the turn comes again
 * once those of all others had theirs. `find` returns the oldest items that are due, no more than `size`; each batch must have
 * been put off before the next one is read. Returns the function that reads the next batch of the turn.
 */
export function openFairBatches<Item extends { owner_id: string }>(
  size: number,
  find: (which: OfAccounts, size: number) => Promise<Item[]>,
): () => Promise<FairBatch<Item>> {
  /** How many items of each account the turn has read; null once those of all accounts had their part of it. */
  let read: Map<string, number> | null = new Map();

  return async function next(): Promise<FairBatch<Item>> {
    const full = [...(read ?? [])].filter(([, count]) => count >= FIRST_OF_ACCOUNT).map(([id]) => id);
    const items = await find(full.length > 0 ? { owner_id: { $nin: full } } : {}, size);
    for (const { owner_id } of read ? items : []) read?.set(owner_id, (read.get(owner_id) ?? 0) + 1);
    if (items.length === size) return { items, isLast: false };
    if (full.length === 0) return { items, isLast: true };
    // What the others have left is done with this batch: the rest of the turn is for what is left.
    read = null;
    return items.length > 0 ? { items, isLast: false } : await next();
  };
}
