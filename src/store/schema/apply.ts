import { failpoint } from "../../lib/failpoint.ts";
import type { HeldLock } from "../../lib/held-lock.ts";
import type { Database, Migration } from "./migration.ts";
import { planOf } from "./plan.ts";
import { adoptState, findState, positionOf, recordApplied, type SchemaState } from "./state.ts";

interface Options {
  migrations: readonly Migration[];
  mayContract: boolean;
  say: (line: string) => void;
}

/**
 * Runs the migrations that the database lacks, in order, under a lock that the caller holds, and returns the new state. Each is
 * recorded once it has run. On an empty database they are recorded together at the end, so that no process takes it for one of an
 * older schema.
 */
export async function applyMigrations(
  db: Database,
  lock: HeldLock,
  { migrations, mayContract, say }: Options,
): Promise<SchemaState> {
  const found = await findState(db);
  if (!found.isStored && found.state.version > 0) await adoptState(db, found.state);
  let { state } = found;
  let unrecorded: Migration[] = [];
  for (const { migration, step } of planOf(state, migrations, { isEmpty: found.isEmpty, mayContract })) {
    if (step !== "run") continue;
    lock.lost.throwIfAborted();
    const { number, name, kind } = migration;
    say(`${number} ${name} (${kind}) …`);
    const startedAt = performance.now();
    failpoint("migration-begun");
    await migration.run({ db, say, signal: lock.lost, ...positionOf(db, number) });
    failpoint("migration-run");
    unrecorded.push(migration);
    if (!found.isEmpty) {
      state = await recordApplied(db, state, { applied: unrecorded, migrations });
      unrecorded = [];
      failpoint("migration-recorded");
    }
    say(`${number} done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  }
  if (unrecorded.length === 0) return state;
  return await recordApplied(db, state, { applied: unrecorded, migrations });
}
