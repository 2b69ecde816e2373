import { randomBytes } from "node:crypto";
import mongoose, { type Connection } from "mongoose";
import { SCHEMA_COLLECTION } from "../../src/store/schema/migration.ts";

/**
 * Databases of tests that have ended: empty, with all collections and indexes. To make those takes longer than most tests. The one
 * that was returned first is used first.
 */
const free: { name: string; since: number }[] = [];
/** By then what a test had still sent to MongoDB has arrived. */
const REST_MS = 2000;
/** Of more, dropping them is faster. */
const MOST_DOCUMENTS = 5000;
/** The schema's state. */
const DOCUMENTS_AT_FIRST = 1;

/** The names of all collections after a start. */
let collectionsAtFirst: string | undefined;

export interface Database {
  name: string;
  isNew: boolean;
}

/** Returns a database for one test: a new one, or that of an earlier test. Undefined if the test names one of its own. */
export function chooseDatabase(env: Record<string, string>): Database | undefined {
  if (env.MONGODB_URL !== undefined) return undefined;
  const [first] = free;
  if (!first || performance.now() - first.since < REST_MS) {
    return { name: `t${randomBytes(6).toString("hex")}`, isNew: true };
  }
  free.shift();
  return { name: first.name, isNew: false };
}

/** Prepares a database in which a platform was opened just now. */
export async function prepareDatabase(connection: Connection, database: Database | undefined): Promise<void> {
  if (!database) return;
  if (database.isNew) collectionsAtFirst ??= await collectionsOf(connection);
  else if (await holdsDocuments(connection)) await empty(connection);
}

/** Empties the database for another test. Drops it if it is the test's own, or has other collections than after a start. */
export async function returnDatabase(connection: Connection, database: Database | undefined): Promise<void> {
  const { objects = 0 } = (await connection.db?.stats()) ?? {};
  if (!database || objects > MOST_DOCUMENTS || (await collectionsOf(connection)) !== collectionsAtFirst) {
    await connection.dropDatabase();
    return;
  }
  if (objects !== DOCUMENTS_AT_FIRST) await empty(connection);
  if (free.length === 0 && !process.env.TEST_STORES_ARE_REMOVED) dropAtEnd();
  free.push({ name: database.name, since: performance.now() });
}

const holdsDocuments = async ({ db }: Connection) => (await db?.stats())?.objects !== DOCUMENTS_AT_FIRST;

async function collectionsOf({ db }: Connection): Promise<string> {
  const found = (await db?.listCollections({}, { nameOnly: true }).toArray()) ?? [];
  return found
    .map(({ name }) => name)
    .sort()
    .join();
}

async function empty(connection: Connection): Promise<void> {
  const names = (await collectionsOf(connection)).split(",").filter(name => name !== SCHEMA_COLLECTION);
  const used = await withDocuments(connection, names);
  await Promise.all(used.map(name => connection.db?.collection(name).deleteMany({})));
}

/** Returns which of the collections have documents: of thirty, most tests use a few. */
async function withDocuments({ db }: Connection, names: string[]): Promise<string[]> {
  const nameIfUsed = (name: string) => [{ $limit: 1 }, { $project: { _id: { $literal: name } } }];
  const [first = "", ...others] = names;
  const found = await db
    ?.collection(first)
    .aggregate(
      [...nameIfUsed(first), ...others.map(coll => ({ $unionWith: { coll, pipeline: nameIfUsed(coll) } }))],
      { readConcern: "local" },
    )
    .toArray();
  return (found ?? []).map(({ _id }) => String(_id));
}

let isDropping = false;

function dropAtEnd(): void {
  if (isDropping) return;
  isDropping = true;
  process.once("beforeExit", async () => {
    const connection = await mongoose.createConnection(process.env.TEST_MONGODB_URL ?? "").asPromise();
    for (const { name } of free.splice(0)) await connection.useDb(name).dropDatabase();
    await connection.close();
  });
}
