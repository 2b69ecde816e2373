import { setTimeout as delay } from "node:timers/promises";
import type { mongo } from "mongoose";
import type { MigrationContext } from "./migration.ts";

const BATCH = 500;
/** Milliseconds between two lines of progress. */
const SAY_EVERY_MS = 10_000;

interface Document {
  _id: mongo.ObjectId;
}

/**
 * Changes every document that `filter` selects, in order of `_id`, in small batches with as long a pause after each as it
 * took, so that the installation keeps half of the database's time. Goes on where a killed process stopped. A document may be
 * changed twice, so `change` must have the same result then; if it does not change what `filter` asks for, nothing is repeated.
 */
export async function backfill(
  { db, say, signal, position, storePosition }: MigrationContext,
  collection: string,
  {
    filter,
    change,
    batch = BATCH,
  }: {
    filter: Record<string, unknown>;
    change: Record<string, unknown> | Record<string, unknown>[];
    batch?: number;
  },
): Promise<void> {
  const documents = db.collection<Document>(collection);
  let { after, changed } = (await position()) ?? { after: null, changed: 0 };
  if (after !== null) say(`  continues after ${changed} documents of ${collection}`);
  let saidAt = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const startedAt = performance.now();
    const next = after === null ? filter : { $and: [{ _id: { $gt: after } }, filter] };
    const found = await documents
      .find(next, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(batch)
      .toArray();
    const last = found.at(-1);
    if (!last) break;
    const ids = found.map(({ _id }) => _id);
    await documents.updateMany({ _id: { $in: ids } }, change as mongo.UpdateFilter<Document>);
    after = last._id;
    changed += ids.length;
    await storePosition({ after, changed });
    if (performance.now() - saidAt > SAY_EVERY_MS) {
      saidAt = performance.now();
      say(`  ${changed} documents of ${collection} so far`);
    }
    await delay(performance.now() - startedAt);
  }
  say(`  ${changed} documents of ${collection}`);
}
