import { setTimeout as delay } from "node:timers/promises";
import type { Connection } from "mongoose";
import { applyMigrations } from "./apply.ts";
import { type Database, type Migration, schemaOf } from "./migration.ts";
import { MIGRATIONS } from "./migrations.ts";
import { acquireSchemaLock } from "./schema-lock.ts";
import { adoptState, findState, readState, rejectUnusable } from "./state.ts";

/** How long a process waits while another one sets an empty database up. Milliseconds. */
const SET_UP_MS = 60_000;
const AGAIN_MS = 50;

/**
 * Makes sure that this release can run on the database. An empty one is set up by the process that comes first, which costs
 * nothing; any other is changed by `headwater migrate` only (docs/decisions/0033-schema-and-job-versions.md). Throws SetupError
 * for one of an older schema, and for one that a newer release has contracted.
 */
export async function ensureSchema(
  connection: Connection,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const { db } = connection;
  if (!db) throw new Error("not connected");
  const needs = schemaOf(migrations);
  const deadline = Date.now() + SET_UP_MS;
  for (;;) {
    const stored = await readState(db);
    if (stored) return rejectUnusable(stored, needs);
    const { state, isEmpty } = await findState(db);
    if (isEmpty) await setUp(db, migrations);
    else if (state.version > 0) await adoptState(db, state);
    else rejectUnusable(state, needs);
    if (Date.now() > deadline)
      throw new Error("MongoDB: another process has been setting the database up for a minute");
  }
}

/**
 * Applies every migration to an empty database, or waits a moment for the process that does. A process that is too busy to
 * renew its lock tries again, because every step may be repeated.
 */
async function setUp(db: Database, migrations: readonly Migration[]): Promise<void> {
  const lock = await acquireSchemaLock(db);
  if (!lock) return await delay(AGAIN_MS);
  try {
    const isStill = (await findState(db)).isEmpty;
    if (isStill) await applyMigrations(db, lock, { migrations, mayContract: false, say: () => undefined });
  } catch (error) {
    if (!lock.lost.aborted) throw error;
  } finally {
    await lock.release();
  }
}
