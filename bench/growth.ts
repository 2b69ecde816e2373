import mongoose from "mongoose";
import type { Stores } from "./stores.ts";

// Creates W5's data. Headwater itself creates one row of each kind, which is then copied: the copies have today's form, and
// a million of them take seconds.

const BATCH = 10_000;
const SIX_HOURS_MS = 6 * 3_600_000;

/** Adds deliveries whose retry is due in some hours, a millisecond apart. */
export function growDeliveries(stores: Stores, count: number): Promise<void> {
  const due = Date.now() + SIX_HOURS_MS;
  return copyRows(stores, "deliveries", count, number => ({
    _id: numbered("dlv_", number),
    webhook_id: numbered("wh_", number % 1000),
    state: "pending",
    next_attempt_at_ms: due + number,
    sweep_at_ms: due + number,
    finished_at_ms: null,
  }));
}

/** Adds subscriptions of other webhooks, ten for each emitter; the emitters are the sources of `growSources`. */
export function growSubscriptions(stores: Stores, count: number): Promise<void> {
  return copyRows(stores, "subscriptions", count, number => ({
    _id: numbered("sub_", number),
    emitter_id: numbered("dc_", Math.floor(number / 10)),
    listener_id: numbered("wh_", number % 1000),
  }));
}

/** Adds HTTP sources with endpoints. */
export function growSources(stores: Stores, count: number): Promise<void> {
  return copyRows(stores, "sources", count, number => ({
    _id: numbered("dc_", number),
    name_slug: `bench-${number}`,
    endpoint: numbered("bench", number),
  }));
}

export const numbered = (prefix: string, number: number) => `${prefix}${String(number).padStart(16, "0")}`;

/** Adds copies of a listener with its subscription: each gets the events at an address of its own, numbered from 1. */
export async function growListeners(
  stores: Stores,
  { id, urlOf }: { id: string; urlOf: (number: number) => string },
  count: number,
): Promise<void> {
  const prefix = id.slice(0, 3);
  await copyRows(
    stores,
    "webhooks",
    count,
    number => ({ _id: numbered(prefix, number + 1), url: urlOf(number + 1) }),
    { _id: id },
  );
  await copyRows(
    stores,
    "subscriptions",
    count,
    number => ({ _id: numbered(`sub_${prefix}`, number + 1), listener_id: numbered(prefix, number + 1) }),
    { listener_id: id },
  );
}

/** Copies any row of a collection, or the one that matches `filter`. */
async function copyRows(
  stores: Stores,
  collection: string,
  count: number,
  own: (number: number) => Record<string, string | number | null>,
  filter: Record<string, string> = {},
): Promise<void> {
  const connection = await mongoose.createConnection(stores.mongodbUrl).asPromise();
  try {
    const rows = connection.collection(collection);
    const row = await rows.findOne(filter as never);
    for (let first = 0; first < count; first += BATCH) {
      const length = Math.min(BATCH, count - first);
      await rows.insertMany(
        Array.from({ length }, (_, index) => ({ ...row, ...own(first + index) })) as never,
        { ordered: false },
      );
    }
  } finally {
    await connection.close();
  }
}
