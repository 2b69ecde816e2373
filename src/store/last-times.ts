import type { Connection } from "mongoose";
import { Type } from "typebox";
import { OrNull } from "../lib/schemas.ts";
import { unixSeconds } from "../lib/time.ts";

/**
 * When something last happened to a webhook, a destination or a source, in Unix milliseconds: what its list is sorted by. They are
 * written with the counts of the activity, every few seconds however much happens, and so are some seconds old; absent before
 * the first.
 */
export interface LastTimes {
  /** An event was sent to it, or emitted by it. */
  last_event_ms?: number;
  /** An attempt succeeded, or a run. */
  last_success_ms?: number;
  last_error_ms?: number;
}

const absent = { type: Number, default: undefined };
/** The fields in the schema of what has them. */
export const LAST_TIMES = { last_event_ms: absent, last_success_ms: absent, last_error_ms: absent };

const shown = (what: string) =>
  OrNull(Type.Integer(), `Unix seconds at which ${what}, some seconds old; null before the first.`);

/** The fields that a view shows of them: of a webhook or a destination, or of a source. */
export const shownLastTimes = (event: string, success: string, error: string) => ({
  last_event_at: shown(event),
  last_success_at: shown(success),
  last_error_at: shown(error),
});

/** Returns the values of these fields. */
export const presentLastTimes = ({ last_event_ms, last_success_ms, last_error_ms }: LastTimes) => ({
  last_event_at: seconds(last_event_ms),
  last_success_at: seconds(last_success_ms),
  last_error_at: seconds(last_error_ms),
});

const seconds = (ms: number | undefined) => (ms === undefined ? null : unixSeconds(ms));

/** The indexes of a collection whose lists are sorted by one of these times. */
export const BY_LAST_TIMES = {
  last_event_ms: { owner_id: 1, last_event_ms: -1, _id: -1 },
  last_success_ms: { owner_id: 1, last_success_ms: -1, _id: -1 },
  last_error_ms: { owner_id: 1, last_error_ms: -1, _id: -1 },
} as const satisfies Record<keyof LastTimes, object>;

type Counts = Readonly<Record<string, number>>;
type Happened = Record<keyof LastTimes, boolean>;

const has = (counts: Counts, name: string) => (counts[name] ?? 0) > 0;

/** What the counts of a webhook or a destination say. */
const toListener = (counts: Counts): Happened => ({
  last_event_ms: has(counts, "attempts"),
  last_success_ms: has(counts, "delivered"),
  last_error_ms: has(counts, "failed") || has(counts, "retried"),
});

/** What the counts of a source say; those of its deliveries are not its own. */
const ofSource = (counts: Counts): Happened => ({
  last_event_ms: has(counts, "emitted"),
  last_success_ms: (counts.runs ?? 0) > (counts.run_errors ?? 0),
  last_error_ms: has(counts, "run_errors"),
});

const WRITTEN: { collection: string; prefix: RegExp; happened: (counts: Counts) => Happened }[] = [
  { collection: "webhooks", prefix: /^(wh|ds|ac|ms)_/, happened: toListener },
  { collection: "sources", prefix: /^dc_/, happened: ofSource },
];

/** Notes that what was counted for these subjects, by their ids, has just happened. Throws the driver's errors. */
export async function noteLastTimes(
  mongo: Connection,
  counted: readonly (readonly [subjectId: string, counts: Counts])[],
  atMs: number,
): Promise<void> {
  const written = WRITTEN.map(async ({ collection, prefix, happened }) => {
    const updates = counted.flatMap(([_id, counts]) => {
      const times = prefix.test(_id) ? Object.entries(happened(counts)).filter(([, is]) => is) : [];
      if (times.length === 0) return [];
      // Another process may have noted a later moment.
      const $max = Object.fromEntries(times.map(([field]) => [field, atMs]));
      return [{ updateOne: { filter: { _id }, update: { $max } } }];
    });
    if (updates.length === 0) return;
    // Not for the majority: nothing is decided by these times.
    const options = { ordered: false, writeConcern: { w: 1, journal: false } } as const;
    await mongo.collection(collection).bulkWrite(updates as never, options);
  });
  await Promise.all(written);
}
