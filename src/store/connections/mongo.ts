import { setTimeout as delay } from "node:timers/promises";
import mongoose, {
  type ClientSession,
  type Connection,
  type ConnectOptions,
  type Model,
  type Schema,
} from "mongoose";
import { AppError } from "../../lib/errors.ts";
import { ensureSchema } from "../schema/ensure.ts";
import { failWaitsOfLostConnections, lookAfterPoolsRarely } from "./mongo-patches.ts";
import { mongoPool } from "./mongo-pool.ts";
import {
  asSetupError,
  isUnresolved,
  reasonOfAway,
  rejectReadOnlyUser,
  rejectWithoutReplicaSet,
} from "./mongo-setup.ts";
import { checkMongodbVersion, type WarnOfVersion } from "./server-versions.ts";

/** A declared collection: called with a connection, it returns the model there. */
export type Collection<T> = (connection: Connection) => Model<T>;

const collections: Collection<never>[] = [];

/** Every operation that this project calls on a model; mongoose's own list includes some that are not asynchronous. */
const OPERATIONS = [
  ...["find", "findOne", "findOneAndUpdate", "findOneAndDelete", "countDocuments", "distinct", "aggregate"],
  ...["save", "insertMany", "updateOne", "updateMany", "deleteOne", "deleteMany", "bulkWrite"],
] as const;

/** Declares a collection. Ids are our own, so documents have string `_id`s and no version key. */
export function collection<T>(name: string, schema: Schema<T>): Collection<T> {
  // The one place where a MongoDB that is away becomes `unavailable`, for every caller.
  schema.post(
    OPERATIONS as unknown as "save",
    (error: Error, _result: unknown, next: (error: Error) => void) => next(orUnavailable(error)),
  );
  const modelOn: Collection<T> = connection =>
    (connection.models[name] as Model<T> | undefined) ?? connection.model<T>(name, schema, name);
  collections.push(modelOn as unknown as Collection<never>);
  return modelOn;
}

/** Options of every schema: unknown fields are a bug of ours, so they throw. */
export const schemaOptions = {
  versionKey: false,
  strict: "throw",
  minimize: false,
  autoCreate: false,
  autoIndex: false,
} as const;

/** A producer's caller gets a 503 after this; a worker's job can wait until an election (10 to 12 s) is over. */
const PRODUCER_TIMEOUT_MS = 1500;
const WORKER_TIMEOUT_MS = 15_000;

interface OpenOptions {
  producer: boolean;
  deadlineMs: number;
  /** Decides how many connections there may be. */
  process?: string;
  /** Called with a line about a MongoDB that is newer than those that were tested; absent: its version is not looked at. */
  warn?: WarnOfVersion;
}

/**
 * Connects within `deadlineMs`, waits for the end of an election, and sets an empty database up. If MongoDB goes away later, a
 * `producer` fails fast with `unavailable`; others wait for it a while first. Throws SetupError for a MongoDB or a URL that can't be
 * used, and for a database of a schema that this release can't use.
 */
export async function openMongo(url: string, options: OpenOptions): Promise<Connection> {
  const deadline = Date.now() + options.deadlineMs;
  const connection = await connectMongo(url, options);
  try {
    await untilThere(() => prepare(connection, options.warn), deadline);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function prepare(connection: Connection, warn: WarnOfVersion | undefined): Promise<void> {
  await rejectWithoutReplicaSet(connection);
  if (warn) await checkMongodbVersion(connection, warn);
  for (const modelOn of collections) modelOn(connection);
  await ensureSchema(connection);
  if (warn) await rejectReadOnlyUser(connection);
}

/** As `openMongo`, to a database of any schema. */
export async function connectMongo(url: string, options: OpenOptions): Promise<Connection> {
  failWaitsOfLostConnections();
  lookAfterPoolsRarely();
  return await connect(
    url,
    {
      serverSelectionTimeoutMS: options.producer ? PRODUCER_TIMEOUT_MS : WORKER_TIMEOUT_MS,
      // The sum of both is how long a server that hangs with open connections goes unnoticed.
      heartbeatFrequencyMS: 2000,
      connectTimeoutMS: 2500,
      // Mongoose would hold operations back for 10 s and then fail with an error without a class.
      bufferCommands: false,
      retryWrites: true,
      // A write that a failover may undo must not count as accepted (docs/design.md#guarantee-1).
      writeConcern: { w: "majority", journal: true },
      readConcern: { level: "majority" },
      ...mongoPool(url, options.process ?? ""),
    },
    Date.now() + options.deadlineMs,
  );
}

const connect = (url: string, options: ConnectOptions, deadline: number): Promise<Connection> =>
  untilThere(async () => {
    const connection = mongoose.createConnection(url, options);
    try {
      return await connection.asPromise();
    } catch (error) {
      await connection.close();
      throw error;
    }
  }, deadline);

/** Between two attempts: without a primary some commands fail at once. */
const START_PAUSE_MS = 100;

/** Retries while MongoDB is away, until the deadline: a producer's own time-out is shorter than that of a start. */
async function untilThere<T>(work: () => Promise<T>, deadline: number): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const setup = asSetupError(error);
      if (setup) throw setup;
      if (!isAway(error) && !isUnresolved(error)) throw error;
      if (Date.now() > deadline) {
        throw new Error(`MONGODB_URL: MongoDB did not respond (${reasonOfAway(error as Error)})`, {
          cause: error,
        });
      }
      await delay(START_PAUSE_MS);
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
/** Error codes of a server that is not a primary, from the driver specification. */
const NO_PRIMARY = new Set<unknown>([91, 189, 10058, 10107, 11600, 11602, 13435, 13436]);

/** Returns true for errors that a later try may not meet: no connection, no primary, no response in time. */
function isAway(error: unknown): boolean {
  if (AWAY.some(kind => error instanceof kind)) return true;
  // In a bulk write the driver's own error loses its class, and carries nothing from a server.
  if (error instanceof MongoBulkWriteError && error.code === undefined)
    return [error.writeErrors].flat().length === 0;
  // From a socket that closed just before the command; the driver passes it on as it is.
  if (error instanceof Error && (error as NodeJS.ErrnoException).code === "EPIPE") return true;
  if (error instanceof MongoServerError && NO_PRIMARY.has(error.code)) return true;
  return error instanceof MongoError && error.hasErrorLabel("RetryableWriteError");
}

function orUnavailable(error: Error): Error {
  if (!isAway(error)) return error;
  return new AppError("unavailable", "the database can't be reached", { cause: error, retryAfterMs: 1000 });
}

const conflicts = (cause: Error) =>
  new AppError("unavailable", "others change the same thing all the time", { cause, retryAfterMs: 1000 });

/** A transaction that conflicts with another is run again this often, each time after a longer pause. */
const TRIES = 10;
const PAUSE_MS = 20;

/**
 * Runs `work` in one transaction; it may run again after a write conflict, so it must not act on other stores. Throws
 * `unavailable` if MongoDB goes away, and then the transaction may be committed or not, and if conflicts don't end. (The driver's own
 * `withTransaction` would retry a commit for two minutes while the caller waits.)
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
        if (!error.hasErrorLabel("TransientTransactionError")) throw error;
        if (attempt === TRIES) throw conflicts(error);
        await delay(Math.random() * PAUSE_MS * 2 ** attempt);
      }
    }
  } finally {
    void session.endSession().catch(() => undefined);
  }
}

async function once<T>(session: ClientSession, work: (session: ClientSession) => Promise<T>): Promise<T> {
  session.startTransaction();
  try {
    const result = await work(session);
    await session.commitTransaction();
    return result;
  } catch (error) {
    // If the server is away, the abort would wait for it in vain; ending the session is enough.
    const isGone = isAway(error) || (error instanceof AppError && error.code === "unavailable");
    if (!isGone && session.inTransaction()) await session.abortTransaction().catch(() => undefined);
    throw error;
  }
}

interface Cursored {
  cursor(options: { batchSize?: number }): AsyncIterable<unknown> & { close(): Promise<unknown> };
}

/**
 * Reads what a query finds, `batchSize` documents at a time (the driver's own size by default). Leaving the loop closes the
 * cursor. Throws `unavailable` if MongoDB goes away: mongoose's hooks never see the errors of a cursor.
 */
export async function* rowsOf<Row>(query: Cursored, batchSize?: number): AsyncGenerator<Row> {
  const cursor = query.cursor(batchSize === undefined ? {} : { batchSize });
  try {
    for await (const row of cursor) yield row as Row;
  } catch (error) {
    throw error instanceof Error ? orUnavailable(error) : error;
  } finally {
    await cursor.close().catch(() => undefined);
  }
}

/** Returns true for MongoDB's duplicate key error (E11000). */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === 11_000;
}

/**
 * Inserts documents, but for those that are stored already, which stay as they are. Returns the indexes of these. Throws if the
 * insert failed for any other reason.
 */
export async function insertMissing<T>(documents: Model<T>, rows: T[]): Promise<ReadonlySet<number>> {
  try {
    await documents.insertMany(rows, { ordered: false, lean: true });
    return new Set();
  } catch (error) {
    const { writeErrors } = error as { writeErrors?: { code: number; index: number }[] };
    if (!Array.isArray(writeErrors) || writeErrors.length === 0) throw error;
    if (writeErrors.some(({ code }) => code !== 11_000)) throw error;
    return new Set(writeErrors.map(({ index }) => index));
  }
}

/** Awaits an insert; a duplicate key becomes a `conflict` with this message. */
export async function orConflict<T>(insert: Promise<T>, message: string): Promise<T> {
  try {
    return await insert;
  } catch (error) {
    if (isDuplicateKey(error)) throw new AppError("conflict", message, { cause: error });
    throw error;
  }
}
