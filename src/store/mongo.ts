import mongoose, { type ClientSession, type Connection, type Model, type Schema } from "mongoose";
import { AppError } from "../errors.ts";

/** A collection's schema under its name; called with a connection, it gives the model there. */
export type Collection<T> = (connection: Connection) => Model<T>;

const collections: Collection<never>[] = [];

/** Declares a collection. Ids are ours, so documents carry string `_id`s and no version key. */
export function collection<T>(name: string, schema: Schema<T>): Collection<T> {
  const give: Collection<T> = connection =>
    (connection.models[name] as Model<T> | undefined) ?? connection.model<T>(name, schema, name);
  collections.push(give as unknown as Collection<never>);
  return give;
}

/** Options every schema takes: unknown fields are our bug, so they throw. */
export const schemaOptions = {
  versionKey: false,
  strict: "throw",
  minimize: false,
  autoCreate: false,
  autoIndex: false,
} as const;

/** Connects, with a deadline, and makes sure of every index of the collections this process knows. */
export async function openMongo(url: string): Promise<Connection> {
  const connection = mongoose.createConnection(url, {
    serverSelectionTimeoutMS: 10_000,
    retryWrites: true,
    // A write that a failover may undo is no acceptance (design.md, guarantee 1).
    writeConcern: { w: "majority", journal: true },
    readConcern: { level: "majority" },
    maxPoolSize: 50,
  });
  await connection.asPromise();
  for (const give of collections) {
    const model = give(connection);
    await model.createCollection();
    await model.createIndexes();
  }
  return connection;
}

/** Runs `work` in one transaction; it may be run again after a write conflict, so it must not act on other stores. */
export async function transaction<T>(
  connection: Connection,
  work: (session: ClientSession) => Promise<T>,
): Promise<T> {
  let answer: T | undefined;
  await connection.transaction(async session => {
    answer = await work(session);
  });
  return answer as T;
}

/** MongoDB's duplicate key error (E11000), by its code. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === 11_000;
}

/** Waits for an insert; a duplicate key becomes a `conflict` with this message. */
export async function orConflict<T>(insert: Promise<T>, message: string): Promise<T> {
  try {
    return await insert;
  } catch (error) {
    if (isDuplicateKey(error)) throw new AppError("conflict", message, { cause: error });
    throw error;
  }
}
