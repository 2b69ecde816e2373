import { Schema } from "mongoose";
import { collection, schemaOptions } from "./mongo.ts";

/**
 * What happened in one hour to an account, a webhook or an emitter, added up as it happens and never computed from rows
 * (docs/decisions/0025-rollups.md). Counts are approximate: a process that is killed loses its last seconds.
 */
export interface Rollup {
  /** `<subject>:<hour>`: a range of them is a range of hours. */
  _id: string;
  /** Counts by name; absent ones are 0. */
  counts: Record<string, number>;
  /** Dropped events by reason. */
  dropped: Record<string, number>;
  /** Attempts by bucket of their latency. */
  latency: Record<string, number>;
  expires_at: Date;
}

export const Rollups = collection<Rollup>(
  "rollups",
  new Schema<Rollup>(
    {
      _id: { type: String, required: true },
      counts: { type: Schema.Types.Mixed, default: undefined },
      dropped: { type: Schema.Types.Mixed, default: undefined },
      latency: { type: Schema.Types.Mixed, default: undefined },
      expires_at: { type: Date, required: true },
    },
    schemaOptions,
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
);

const HOUR_S = 3600;

/** Returns the Unix seconds at which the hour of a moment began. */
export const hourOf = (ms: number): number => Math.floor(ms / 1000 / HOUR_S) * HOUR_S;

/** The id of a subject's rollup of one hour. Unix seconds have ten digits until the year 2286. */
export const rollupId = (subjectId: string, hour: number): string => `${subjectId}:${hour}`;

/** Each bucket is a tenth wider than the one before: a percentile is off by 5 % at most. */
const GROWTH = 1.1;
const LAST_BUCKET = 130;

/** Returns the bucket of a latency: 0 up to a millisecond, 130 from four minutes on. */
export function latencyBucket(ms: number): number {
  return ms <= 1 ? 0 : Math.min(LAST_BUCKET, Math.ceil(Math.log(ms) / Math.log(GROWTH)));
}

/** Returns the latency, in milliseconds, below which this share of the attempts is; null without any. */
export function percentileOf(buckets: Readonly<Record<string, number>>, share: number): number | null {
  const sorted = Object.entries(buckets)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .sort(([a], [b]) => a - b);
  const all = sorted.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [bucket, count] of sorted) {
    seen += count;
    if (seen >= all * share) return Math.round(GROWTH ** (bucket - 0.5) * 10) / 10;
  }
  return null;
}
