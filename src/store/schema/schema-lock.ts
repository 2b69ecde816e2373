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

/** The right to change the schema, which is renewed for as long as it is held. It is in MongoDB, as what it protects. */
export class SchemaLock {
  readonly #db: Database;
  readonly #holder: string;
  readonly #ttlMs: number;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #renewedAt: number;

  /** Use `acquireSchemaLock`. `askedAt` is the moment before it was acquired, by `performance.now()`. */
  constructor(db: Database, holder: string, ttlMs: number, askedAt: number) {
    this.#db = db;
    this.#holder = holder;
    this.#ttlMs = ttlMs;
    this.#renewedAt = askedAt;
    this.#timer = setInterval(() => void this.#renew(), Math.floor(ttlMs / 3));
  }

  /** Aborted when it is lost: it could not be renewed in time, and another process may have it. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Lets the next process acquire it at once. Never throws: unreleased, it expires. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    await locks(this.#db)
      .deleteOne({ _id: ID, holder: this.#holder })
      .catch(() => undefined);
  }

  async #renew(): Promise<void> {
    const askedAt = performance.now();
    if (askedAt - this.#renewedAt > this.#ttlMs) return this.#lose();
    try {
      const { matchedCount } = await locks(this.#db).updateOne({ _id: ID, holder: this.#holder }, [
        { $set: { until: until(this.#ttlMs) } },
      ]);
      if (matchedCount === 0) return this.#lose();
      this.#renewedAt = askedAt;
    } catch {
      // The next renewal may succeed; if none does in time, it is lost.
    }
  }

  #lose(): void {
    clearInterval(this.#timer);
    this.#lost.abort(new Error("another process has taken over: it goes on with the migrations"));
  }
}

/** Acquires the lock; returns null while another process holds it. It expires `ttlMs` after its last renewal. */
export async function acquireSchemaLock(db: Database, ttlMs = TTL_MS): Promise<SchemaLock | null> {
  const holder = newToken();
  const askedAt = performance.now();
  const held = [{ $set: { holder, since: "$$NOW", until: until(ttlMs) } }];
  // In two steps, because an upsert can't compare with the server's time.
  const expired = await locks(db).updateOne({ _id: ID, $expr: { $lt: ["$until", "$$NOW"] } }, held);
  if (expired.matchedCount === 1) return new SchemaLock(db, holder, ttlMs, askedAt);
  try {
    await locks(db).updateOne({ _id: ID, holder }, held, { upsert: true });
  } catch (error) {
    if ((error as { code?: unknown }).code === DUPLICATE_KEY) return null;
    throw error;
  }
  return new SchemaLock(db, holder, ttlMs, askedAt);
}
