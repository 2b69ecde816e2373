import type { Migration } from "./migration.ts";
import type { SchemaState } from "./state.ts";

/** What `headwater migrate` would do with each migration. */
export type Step = "applied" | "run" | "wait";

export interface PlanOptions {
  isEmpty: boolean;
  /** True if the operator says that no process of an older release is running. */
  mayContract: boolean;
}

/**
 * Returns what to do with each migration on a database in this state. A contract waits for the operator's word, because processes
 * of an older release may still need what it removes, and only the operator knows: a release phase may be repeated before any new
 * process has started. It also waits until the database had its schema before. An empty database has no such processes.
 */
export function planOf(
  state: SchemaState,
  migrations: readonly Migration[],
  { isEmpty, mayContract }: PlanOptions,
): { migration: Migration; step: Step }[] {
  return migrations.map(migration => {
    if (state.applied.includes(migration.number)) return { migration, step: "applied" };
    const isAllowed = mayContract && state.version >= (migration.worksFrom ?? migration.number);
    const mustWait = migration.kind === "contract" && !isEmpty && !isAllowed;
    return { migration, step: mustWait ? "wait" : "run" };
  });
}
