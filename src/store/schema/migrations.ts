import { type Migration, schemaOf } from "./migration.ts";
import { firstIndexes } from "./migrations/0001-first-indexes.ts";

/** Every migration, in order (CONTRIBUTING.md says how to add one). */
export const MIGRATIONS: readonly Migration[] = [firstIndexes];

/** The schema that this release needs. */
export const SCHEMA = schemaOf(MIGRATIONS);
