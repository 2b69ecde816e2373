import { randomBytes } from "node:crypto";
import mongoose, { type Connection } from "mongoose";
import type { Database, Migration } from "../../../src/store/schema/migration.ts";
import { FIRST_INDEXES } from "../../../src/store/schema/migrations/0001-first-indexes.ts";

/** A database of its own, on the server of the tests. */
export interface TestDatabase {
  url: string;
  connection: Connection;
  db: Database;
  drop(): Promise<void>;
}

/** Opens an empty database, or again the one with this URL. */
export async function openDatabase(given?: string): Promise<TestDatabase> {
  const url = new URL(given ?? process.env.TEST_MONGODB_URL ?? "");
  if (!given) url.pathname = `/t${randomBytes(6).toString("hex")}`;
  const connection = await mongoose
    .createConnection(url.href, { writeConcern: { w: "majority" }, readConcern: { level: "majority" } })
    .asPromise();
  const db = connection.db as Database;
  return {
    url: url.href,
    connection,
    db,
    async drop() {
      await connection.dropDatabase();
      await connection.close();
    },
  };
}

/** Leaves what a release before schemas has set up: its collections and indexes, and a user. */
export async function setUpAsBefore(db: Database): Promise<void> {
  for (const [collection, indexes] of Object.entries(FIRST_INDEXES)) {
    await db.createCollection(collection);
    if (indexes.length > 0) await db.collection(collection).createIndexes(indexes);
  }
  await addUser(db);
}

/** Makes the database one that is not empty. */
export async function addUser(db: Database): Promise<void> {
  await db
    .collection<{ _id: string; email: string; username: string }>("users")
    .insertOne({ _id: "u_1", email: "a@example.test", username: "a" });
}

export const indexNamesOf = async (db: Database, collection: string): Promise<string[]> =>
  (await db.collection(collection).indexes()).map(({ name }) => String(name));

/** A migration that leaves its number in the database each time it runs. */
export const migration = (number: number, fields: Partial<Migration> = {}): Migration => ({
  number,
  name: `step ${number}`,
  kind: "expand",
  run: async ({ db }) => void (await db.collection("ran").insertOne({ number })),
  ...fields,
});

/** The numbers of the migrations that ran, in order. */
export const ran = async (db: Database): Promise<unknown[]> =>
  (await db.collection("ran").find().sort({ _id: 1 }).toArray()).map(({ number }) => number);
