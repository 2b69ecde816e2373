import type { Connection, mongo } from "mongoose";
import { AcceptedWork } from "../models/accepted.ts";
import { Deliveries } from "../models/delivery.ts";
import { StoredEvents } from "../models/event.ts";
import type { Stores } from "../platform.ts";
import { asUnavailable, fieldOf, infoOfMasters } from "../store/connections/redis.ts";
import { MAX_PUT_OFF_MS } from "../store/sweeps/put-off.ts";
import type { SweepBatch } from "../store/sweeps/sweep-turns.ts";

/** Rows of an index read in one batch. */
const BATCH = 5000;

/** A collection whose items a sweep puts off. */
interface Swept {
  items: (connection: Connection) => mongo.Collection;
  /** The indexed field with the moment at which the sweep looks. */
  due: string;
  /** What it must have besides, to be found by that index. */
  which: object;
  putOff: string;
  isDate?: true;
}

const SWEPT: Swept[] = [
  {
    items: connection => Deliveries(connection).collection,
    due: "sweep_at_ms",
    which: { state: "pending" },
    putOff: "put_off",
  },
  {
    items: connection => StoredEvents(connection).collection,
    due: "pending_dispatch.sweep_at_ms",
    which: {},
    putOff: "pending_dispatch.put_off",
  },
  {
    items: connection => AcceptedWork(connection).collection,
    due: "check_at",
    which: {},
    putOff: "put_off",
    isDate: true,
  },
];

/** Where a pass is, as its cursor. */
interface Pass {
  /** Of the masters for which it is made. */
  ids: string;
  startedAtMs: number;
  /** Index in SWEPT. */
  at: number;
  /** Items that are due up to this moment are done. Unix milliseconds. */
  doneMs: number;
}

/**
 * If another Redis server has become a master, or a master has restarted or lost its data, makes everything due at once that
 * the sweeps have put off. The job of such an item may be lost, and its next look may be as far away as the time that it had
 * waited. Items that were not put off are looked at soon enough. Repairs nothing by itself.
 */
export function beginFailoverSweep(platform: Stores): SweepBatch {
  return async cursor => {
    const pass = cursor === null ? await beginPass(platform) : (JSON.parse(cursor) as Pass);
    if (!pass) return { repaired: 0, next: null };
    const swept = SWEPT[pass.at];
    if (!swept) {
      await platform.redis.set(platform.keys.knownMasters(), pass.ids);
      return { repaired: 0, next: null };
    }
    const doneMs = await makeDue(platform, swept, pass);
    const next =
      doneMs === null ? { ...pass, at: pass.at + 1, doneMs: pass.startedAtMs } : { ...pass, doneMs };
    return { repaired: 0, next: JSON.stringify(next) };
  };
}

/** Returns null if the masters are those of the last pass. */
async function beginPass(platform: Stores): Promise<Pass | null> {
  const { redis, keys, clock } = platform;
  const ids = await readMasterIds(platform);
  if (ids === (await redis.get(keys.knownMasters()))) return null;
  const startedAtMs = clock();
  return { ids, startedAtMs, at: 0, doneMs: startedAtMs };
}

/** Each start of a server has an id of its own. */
async function readMasterIds({ redis }: Stores): Promise<string> {
  try {
    const infos = await infoOfMasters(redis, "server");
    return infos
      .map(info => fieldOf(info, "run_id") ?? "")
      .sort()
      .join(" ");
  } catch (error) {
    throw asUnavailable(error);
  }
}

/** Makes the next items due that were put off before the pass began; returns up to which moment, or null at the end. */
async function makeDue(
  { mongo }: Stores,
  swept: Swept,
  { startedAtMs, doneMs }: Pass,
): Promise<number | null> {
  const { items, due, which, putOff, isDate } = swept;
  const moment = (ms: number) => (isDate ? new Date(ms) : ms);
  const untilMs = startedAtMs + MAX_PUT_OFF_MS;
  const last = await items(mongo).findOne(
    { ...which, [due]: { $gt: moment(doneMs), $lte: moment(untilMs) } },
    { projection: { [due]: 1 }, sort: { [due]: 1 }, skip: BATCH - 1 },
  );
  const upToMs = last ? Number(due.split(".").reduce<unknown>(at, last)) : untilMs;
  await items(mongo).updateMany(
    {
      ...which,
      [due]: { $gt: moment(doneMs), $lte: moment(upToMs) },
      [`${putOff}.at_ms`]: { $lt: startedAtMs },
      $expr: { $eq: [`$${putOff}.to_ms`, isDate ? { $toLong: `$${due}` } : `$${due}`] },
    },
    { $set: { [due]: moment(startedAtMs) } },
  );
  return last ? upToMs : null;
}

const at = (value: unknown, name: string): unknown => (value as Record<string, unknown> | undefined)?.[name];
