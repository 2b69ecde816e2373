import type { mongo } from "mongoose";
import { failpoint } from "../../lib/failpoint.ts";
import type { Database, MigrationContext } from "./migration.ts";

/** Indexes by their collection, each with a name of its own there. */
export type IndexesByCollection = Record<string, (mongo.IndexDescription & { name: string })[]>;

/** Builds of large collections take minutes. Milliseconds between two lines about one. */
const SAY_EVERY_MS = 10_000;

/** Returns those that don't exist, as `collection.name`; a collection that is missing is returned by its name alone. */
export async function missingIndexes(db: Database, wanted: IndexesByCollection): Promise<string[]> {
  const present = await collectionsOf(db);
  const missing = await Promise.all(
    Object.entries(wanted).map(async ([collection, indexes]) => {
      if (!present.has(collection)) return [collection];
      const names = await indexNames(db, collection);
      return indexes.filter(({ name }) => !names.has(name)).map(({ name }) => `${collection}.${name}`);
    }),
  );
  return missing.flat();
}

/** Creates the collections and indexes that are missing. Throws the server's error for an index that exists otherwise. */
export async function createIndexes(
  { db, say, signal }: Pick<MigrationContext, "db" | "say" | "signal">,
  wanted: IndexesByCollection,
): Promise<void> {
  const present = await collectionsOf(db);
  for (const [collection, indexes] of Object.entries(wanted)) {
    signal.throwIfAborted();
    // A transaction can't create the collection that it writes to.
    if (indexes.length === 0 && !present.has(collection)) await db.createCollection(collection);
    if (indexes.length === 0) continue;
    const names = present.has(collection) ? await indexNames(db, collection) : new Set();
    const missing = indexes.filter(({ name }) => !names.has(name));
    if (missing.length === 0) continue;
    const documents = present.has(collection) ? await db.collection(collection).estimatedDocumentCount() : 0;
    const what = `  ${missing.map(({ name }) => name).join(", ")} of ${collection}, ${documents} documents`;
    if (documents > 0) say(what);
    await building(db.collection(collection).createIndexes(missing), passed => {
      say(`${what}: ${passed} s so far`);
    });
    failpoint("index-created");
  }
}

async function building(build: Promise<unknown>, report: (seconds: number) => void): Promise<void> {
  const startedAt = performance.now();
  const timer = setInterval(() => report(Math.round((performance.now() - startedAt) / 1000)), SAY_EVERY_MS);
  await build.finally(() => clearInterval(timer));
}

/** Returns the names of all collections of the database. */
export async function collectionsOf(db: Database): Promise<Set<string>> {
  const found = await db.listCollections({}, { nameOnly: true }).toArray();
  return new Set(found.map(({ name }) => name));
}

async function indexNames(db: Database, collection: string): Promise<Set<string>> {
  const found = await db.collection(collection).indexes();
  return new Set(found.map(({ name }) => String(name)));
}
