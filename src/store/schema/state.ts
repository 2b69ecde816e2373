import { SetupError } from "../../lib/errors.ts";
import { collectionsOf, missingIndexes } from "./indexes.ts";
import { type Database, type Migration, type Position, SCHEMA_COLLECTION, schemaOf } from "./migration.ts";
import { FIRST_INDEXES } from "./migrations/0001-first-indexes.ts";

/** What a database has. */
export interface SchemaState {
  /** The last migration up to which everything but contracts was applied. */
  version: number;
  /** Releases that need an earlier schema than this can't run any more, because of a contract. */
  works_from: number;
  /** Numbers of the migrations that were applied. */
  applied: number[];
}

interface StoredState extends SchemaState {
  _id: string;
}
interface StoredPosition extends Position {
  _id: string;
}

const ID = "state";
const states = (db: Database) => db.collection<StoredState>(SCHEMA_COLLECTION);
const positions = (db: Database) => db.collection<StoredPosition>(SCHEMA_COLLECTION);
const positionId = (number: number) => `position-${number}`;

/** Returns the stored state; null for a database that has none. Throws SetupError for a document of another shape. */
export async function readState(db: Database): Promise<SchemaState | null> {
  const projection = { _id: 0, version: 1, works_from: 1, applied: 1 };
  const stored = await states(db).findOne<SchemaState>({ _id: ID }, { projection });
  if (stored === null || isState(stored)) return stored;
  throw new SetupError(
    `MONGODB_URL: the document ${ID} of the collection ${SCHEMA_COLLECTION} is not one of Headwater's: restore it from a backup`,
  );
}

const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;

const isState = ({ version, works_from, applied }: SchemaState): boolean =>
  isCount(version) && isCount(works_from) && Array.isArray(applied) && applied.every(isCount);

/**
 * Returns the state of a database that may have none stored: nothing for one without documents, the first schema for one that
 * a release before schemas has set up, and 0 for one with documents that lacks indexes of those.
 */
export async function findState(
  db: Database,
): Promise<{ state: SchemaState; isStored: boolean; isEmpty: boolean; missing: string[] }> {
  const none = { version: 0, works_from: 0, applied: [] };
  const stored = await readState(db);
  if (stored) return { state: stored, isStored: true, isEmpty: false, missing: [] };
  if (await isEmpty(db)) return { state: none, isStored: false, isEmpty: true, missing: [] };
  const missing = await missingIndexes(db, FIRST_INDEXES);
  const state = missing.length === 0 ? { version: 1, works_from: 0, applied: [1] } : none;
  return { state, isStored: false, isEmpty: false, missing };
}

/** True if no collection of ours holds a document. */
async function isEmpty(db: Database): Promise<boolean> {
  const present = await collectionsOf(db);
  const ours = Object.keys(FIRST_INDEXES).filter(name => present.has(name));
  const found = await Promise.all(
    ours.map(name => db.collection(name).findOne({}, { projection: { _id: 1 } })),
  );
  return found.every(document => document === null);
}

/** Stores the state of a database that has none, unless another process did. */
export async function adoptState(db: Database, state: SchemaState): Promise<void> {
  await states(db).updateOne({ _id: ID }, { $setOnInsert: state }, { upsert: true });
}

/** Records that migrations were applied; `migrations` is the list that they are from. Returns the new state. */
export async function recordApplied(
  db: Database,
  state: SchemaState,
  { applied: more, migrations }: { applied: readonly Migration[]; migrations: readonly Migration[] },
): Promise<SchemaState> {
  const applied = [...new Set([...state.applied, ...more.map(({ number }) => number)])].sort((a, b) => a - b);
  const needed = migrations.filter(({ kind }) => kind !== "contract");
  const open = needed.findIndex(({ number }) => !applied.includes(number));
  const changed = {
    applied,
    version: Math.max(state.version, schemaOf(open < 0 ? needed : needed.slice(0, open))),
    works_from: Math.max(state.works_from, ...more.map(({ worksFrom = 0 }) => worksFrom)),
  };
  await states(db).updateOne({ _id: ID }, { $set: changed }, { upsert: true });
  await positions(db).deleteMany({ _id: { $in: more.map(({ number }) => positionId(number)) } });
  return changed;
}

/** Reads and stores how far the backfill with this number is. */
export const positionOf = (db: Database, number: number) => ({
  async position(): Promise<Position | null> {
    return await positions(db).findOne(
      { _id: positionId(number) },
      { projection: { _id: 0, after: 1, changed: 1 } },
    );
  },
  async storePosition(position: Position): Promise<void> {
    await positions(db).updateOne({ _id: positionId(number) }, { $set: position }, { upsert: true });
  },
});

/** Returns why a release that needs this schema can't run on the database; undefined if it can. */
export function schemaProblem(state: SchemaState, needs: number): string | undefined {
  const has = `MONGODB_URL: this database has schema ${state.version}`;
  if (state.version < needs) return `${has}, this release needs ${needs}: run \`headwater migrate\``;
  if (state.works_from <= needs) return undefined;
  return `${has}, which releases before schema ${state.works_from} can't use; this release has schema ${needs}: run a newer release`;
}

/** Throws SetupError for a database that a newer release has contracted so that one that needs this schema can't use it. */
export function rejectContracted(state: SchemaState, needs: number): void {
  if (state.works_from > needs) rejectUnusable(state, needs);
}

/** Throws SetupError for a database on which a release that needs this schema can't run. */
export function rejectUnusable(state: SchemaState, needs: number): void {
  const fault = schemaProblem(state, needs);
  if (fault !== undefined) throw new SetupError(fault);
}
