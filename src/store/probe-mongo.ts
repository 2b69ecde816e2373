import type { Connection } from "mongoose";
import { withDeadline } from "../lib/time.ts";
import { asSetupError } from "./mongo-setup.ts";

/** A write is tested at most this often, however often a load balancer asks. Milliseconds. */
const EVERY_MS = 3000;
/** A test write that hangs counts as failed for those who ask after it, too. */
const DEADLINE_MS = 1800;

interface LastWrite {
  atMs: number;
  result: Promise<unknown>;
}

const lastWrites = new WeakMap<Connection, LastWrite>();

/**
 * Rejects with what is wrong if MongoDB takes no writes: it is away, has no primary, or its disk is full or locked, which
 * `ping` and `hello` don't show. The write is tested at most every 3 seconds; the rest at each call.
 */
export async function probeMongo(mongo: Connection): Promise<void> {
  if (!mongo.db) throw new Error("not connected");
  const hello = await mongo.db.admin().command({ hello: 1 });
  if (!hello.isWritablePrimary) throw new Error("no primary");
  let last = lastWrites.get(mongo);
  if (!last || performance.now() - last.atMs >= EVERY_MS) {
    last = { atMs: performance.now(), result: withDeadline(writeProbe(mongo.db), DEADLINE_MS) };
    // The callers receive the error; without a caller it must not be unhandled.
    last.result.catch(() => undefined);
    lastWrites.set(mongo, last);
  }
  await last.result;
}

/**
 * Throws SetupError for a user who may not write. Whatever else keeps MongoDB from writing now may pass, and shows in
 * `/readyz`.
 */
export async function rejectReadOnlyUser({ db }: Connection): Promise<void> {
  if (!db) throw new Error("not connected");
  try {
    await withDeadline(writeProbe(db), DEADLINE_MS);
  } catch (error) {
    const setup = asSetupError(error);
    if (setup) throw setup;
  }
}

/** As durable as every other write: a full disk shows when the journal is written. */
function writeProbe(db: NonNullable<Connection["db"]>): Promise<unknown> {
  return db
    .collection<{ _id: string; at: Date }>("probes")
    .updateOne(
      { _id: "write" },
      { $set: { at: new Date() } },
      { upsert: true, writeConcern: { w: "majority", journal: true } },
    );
}
