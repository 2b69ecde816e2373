import type { Migration } from "./migration.ts";
import type { SchemaState } from "./state.ts";

/** What `headwater migrate` would do with each migration. */
export type Step = "applied" | "run" | "wait";

/**
 * Returns what to do with each migration on a database in this state. A contract waits until the database had its schema before:
 * processes of the release that runs now may still need what it removes. On an empty database there are none.
 */
export function planOf(
  state: SchemaState,
  migrations: readonly Migration[],
  isEmpty: boolean,
): { migration: Migration; step: Step }[] {
  return migrations.map(migration => {
    if (state.applied.includes(migration.number)) return { migration, step: "applied" };
    const mustWait =
      migration.kind === "contract" && state.version < (migration.worksFrom ?? migration.number);
    return { migration, step: mustWait && !isEmpty ? "wait" : "run" };
  });
}
