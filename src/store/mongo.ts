import mongoose, {
  type ClientSession,
  type Connection,
  type ConnectOptions,
  type Model,
  type Schema,
} from "mongoose";
import { AppError } from "../lib/errors.ts";
import { endWaitsOfLostConnections } from "./lost-connections.ts";

/** A collection's schema under its name; called with a connection, it gives the model there. */
export type Collection<T> = (connection: Connection) => Model<T>;

const collections: Collection<never>[] = [];

/** Every operation this project calls on a model; mongoose's own list has some that are not asynchronous. */
const OPERATIONS = [
  ...["find", "findOne", "findOneAndUpdate", "findOneAndDelete", "countDocuments", "distinct", "aggregate"],
  ...["save", "insertMany", "updateOne", "updateMany", "deleteOne", "deleteMany", "bulkWrite"],
] as const;

/** Declares a collection. Ids are ours, so documents carry string `_id`s and no version key. */
export function collection<T>(name: string, schema: Schema<T>): Collection<T> {
  // The one place where a MongoDB that is away becomes `unavailable`, for every caller alike.
  schema.post(
    OPERATIONS as unknown as "save",
    (error: Error, _answer: unknown, next: (error: Error) => void) => next(orUnavailable(error)),
  );
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

/** A producer's caller hears 503 after this; a worker's job can wait out an election (10 to 12 s) on the spot. */
const PRODUCER_WAITS_MS = 1500;
const WORKER_WAITS_MS = 15_000;

/**
 * Connects, with a deadline, and makes sure of every index of the collections this process knows. With MongoDB away
 * later, a `producer` fails fast with `unavailable`, others wait for it a while first.
 */
export async function openMongo(
  url: string,
  options: { producer: boolean; deadlineMs: number },
): Promise<Connection> {
  endWaitsOfLostConnections();
  const connection = await connect(
    url,
    {
      serverSelectionTimeoutMS: options.producer ? PRODUCER_WAITS_MS : WORKER_WAITS_MS,
      // How soon a server that hangs with its connections open is noticed: both added up.
      heartbeatFrequencyMS: 2000,
      connectTimeoutMS: 2500,
      // Mongoose would hold operations back for 10 s, and then fail with an error of no class of its own.
      bufferCommands: false,
      retryWrites: true,
      // A write that a failover may undo is no acceptance (design.md, guarantee 1).
      writeConcern: { w: "majority", journal: true },
      readConcern: { level: "majority" },
      maxPoolSize: 50,
    },
    options.deadlineMs,
  );
  for (const give of collections) {
    const model = give(connection);
    await model.createCollection();
    await model.createIndexes();
  }
  return connection;
}

/** Tries again until the deadline: a producer's own patience is shorter than a start's. */
async function connect(url: string, options: ConnectOptions, deadlineMs: number): Promise<Connection> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const connection = mongoose.createConnection(url, options);
    try {
      return await connection.asPromise();
    } catch (error) {
      await connection.close();
      if (!isAway(error) || Date.now() > deadline) throw error;
    }
  }
}

const { MongoError, MongoNetworkError, MongoNotConnectedError, MongoOperationTimeoutError } = mongoose.mongo;
const { MongoServerError, MongoServerSelectionError, MongoTopologyClosedError } = mongoose.mongo;
const { MongoBulkWriteError } = mongoose.mongo;
const AWAY = [
  ...[MongoNetworkError, MongoNotConnectedError, MongoOperationTimeoutError],
  ...[MongoServerSelectionError, MongoTopologyClosedError, mongoose.Error.MongooseServerSelectionError],
];
/** What a server answers that is no primary (any more, or yet), by the driver specification's codes. */
const NO_PRIMARY = new Set<unknown>([91, 189, 10058, 10107, 11600, 11602, 13435, 13436]);

/** True for what a later try may find mended: no connection, no primary, no answer in time. */
function isAway(error: unknown): boolean {
  if (AWAY.some(kind => error instanceof kind)) return true;
  // In a bulk the driver's own error comes without its class, and with nothing that a server said.
  if (error instanceof MongoBulkWriteError && error.code === undefined)
    return [error.writeErrors].flat().length === 0;
  // Of a socket that ended just before the command: the driver hands it on as it is.
  if (error instanceof Error && (error as NodeJS.ErrnoException).code === "EPIPE") return true;
  if (error instanceof MongoServerError && NO_PRIMARY.has(error.code)) return true;
  return error instanceof MongoError && error.hasErrorLabel("RetryableWriteError");
}

function orUnavailable(error: Error): Error {
  if (!isAway(error)) return error;
  return new AppError("unavailable", "the database can't be reached", { cause: error, retryAfterMs: 1000 });
}

/** A transaction that met another one is run again this often, each time after a longer pause. */
const TRIES = 10;
const PAUSE_MS = 20;

/**
 * Runs `work` in one transaction; it may be run again after a write conflict, so it must not act on other stores.
 * Throws `unavailable` when MongoDB goes away meanwhile, and then it may be committed or not. (The driver's own
 * `withTransaction` would ask after a commit for two minutes, with a caller waiting.)
 */
export async function transaction<T>(
  connection: Connection,
  work: (session: ClientSession) => Promise<T>,
): Promise<T> {
  const session = await connection.startSession();
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(session, work);
      } catch (error) {
        if (!(error instanceof MongoError)) throw error;
        if (isAway(error)) throw orUnavailable(error);
        if (!error.hasErrorLabel("TransientTransactionError") || attempt === TRIES) throw error;
        await new Promise(resolve => setTimeout(resolve, Math.random() * PAUSE_MS * 2 ** attempt));
      }
    }
  } finally {
    void session.endSession().catch(() => undefined);
  }
}

async function once<T>(session: ClientSession, work: (session: ClientSession) => Promise<T>): Promise<T> {
  session.startTransaction();
  try {
    const answer = await work(session);
    await session.commitTransaction();
    return answer;
  } catch (error) {
    // With the server away the abort would wait for it in vain; ending the session is enough then.
    const isGone = isAway(error) || (error instanceof AppError && error.code === "unavailable");
    if (!isGone && session.inTransaction()) await session.abortTransaction().catch(() => undefined);
    throw error;
  }
}

/** MongoDB's duplicate key error (E11000), by its code. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === 11_000;
}

/** The places of duplicates in an unordered bulk insert that failed for nothing else; null for any other failure. */
export function duplicateIndexes(error: unknown): Set<number> | null {
  const { writeErrors } = error as { writeErrors?: { code: number; index: number }[] };
  if (!Array.isArray(writeErrors) || writeErrors.length === 0) return null;
  if (writeErrors.some(failure => failure.code !== 11_000)) return null;
  return new Set(writeErrors.map(failure => failure.index));
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
