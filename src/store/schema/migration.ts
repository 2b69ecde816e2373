import type { Connection } from "mongoose";

export type Database = NonNullable<Connection["db"]>;

/** The collection that holds the schema's state, its lock and the positions of backfills; nothing else writes there. */
export const SCHEMA_COLLECTION = "schema";

/** What a migration works with. */
export interface MigrationContext {
  db: Database;
  /** Prints a line of progress. */
  say: (line: string) => void;
  /** Aborted when another process has taken the lock: the migration must stop. */
  signal: AbortSignal;
  /** Where a backfill goes on: what the migration stored last, by whichever process; null at its start. */
  position: () => Promise<Position | null>;
  storePosition: (position: Position) => Promise<void>;
}

/** How far a backfill is: the `_id` of the last document that it looked at, and how many it changed. */
export interface Position {
  after: unknown;
  changed: number;
}

/**
 * A step from one schema to the next, in a file of its own that never changes once it is released. It must be idempotent:
 * a process may be killed at any point of it, and then it runs again from its start.
 */
export interface Migration {
  /** The schema that the database has afterwards. */
  number: number;
  /** What it does, in a few words. */
  name: string;
  /**
   * `expand` adds what the new release needs and the old one ignores; `backfill` fills in what documents lack; `contract` removes
   * what no release in use needs any more.
   */
  kind: "expand" | "backfill" | "contract";
  /**
   * Of a `contract`: releases that need an earlier schema than this can't run after it. So it runs only once the database
   * had this schema before `headwater migrate` began: then no process of such a release runs any more.
   */
  worksFrom?: number;
  run: (context: MigrationContext) => Promise<void>;
}

/** The schema that a release with these migrations needs. Contracts are not needed: they only remove. */
export const schemaOf = (migrations: readonly Migration[]): number =>
  Math.max(0, ...migrations.filter(({ kind }) => kind !== "contract").map(({ number }) => number));
