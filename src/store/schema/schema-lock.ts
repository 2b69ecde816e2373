import { HeldLock } from "../../lib/held-lock.ts";
import { newToken } from "../../lib/ids.ts";
import { type Database, SCHEMA_COLLECTION } from "./migration.ts";

interface Lock {
  _id: string;
  holder: string;
  /** By MongoDB's clock, as everything here. */
  since: Date;
  until: Date;
}

const ID = "lock";
const DUPLICATE_KEY = 11_000;
/** A killed holder keeps others waiting this long. Milliseconds. */
const TTL_MS = 10_000;

const locks = (db: Database) => db.collection<Lock>(SCHEMA_COLLECTION);
const until = (ttlMs: number) => ({ $add: ["$$NOW", ttlMs] });

/**
 * Acquires the right to change the schema; returns null while another process holds it. It is in MongoDB, as what it protects,
 * and expires `ttlMs` after its last renewal.
 */
export async function acquireSchemaLock(db: Database, ttlMs = TTL_MS): Promise<HeldLock | null> {
  const holder = newToken();
  const askedAt = performance.now();
  const held = [{ $set: { holder, since: "$$NOW", until: until(ttlMs) } }];
  const keep = () =>
    new HeldLock({
      ttlMs,
      askedAt,
      renew: async () => {
        const renewal = [{ $set: { until: until(ttlMs) } }];
        return (await locks(db).updateOne({ _id: ID, holder }, renewal)).matchedCount === 1;
      },
      release: () => locks(db).deleteOne({ _id: ID, holder }),
      lostReason: new Error("another process has taken over the migrations, and continues them"),
    });
  // In two steps, because an upsert can't compare with the server's time.
  const expired = await locks(db).updateOne({ _id: ID, $expr: { $lt: ["$until", "$$NOW"] } }, held);
  if (expired.matchedCount === 1) return keep();
  try {
    await locks(db).updateOne({ _id: ID, holder }, held, { upsert: true });
  } catch (error) {
    if ((error as { code?: unknown }).code === DUPLICATE_KEY) return null;
    throw error;
  }
  return keep();
}
