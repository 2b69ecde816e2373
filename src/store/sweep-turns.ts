import type { RedisKeys } from "./keys.ts";
import type { RedisClient } from "./redis.ts";

/** What one batch of a step did. */
export interface Swept {
  /** How many items it repaired. */
  repaired: number;
  /** Where the next batch begins; null if this one reached the end. */
  next: string | null;
}

/** Handles the batch behind `cursor`, or the first one: a bounded number of items. Throws `unavailable`. */
export type SweepBatch = (cursor: string | null) => Promise<Swept>;

/** One kind of work that the reconciler looks for. */
export interface SweepStep {
  name: string;
  /** Without it, a turn goes on to the end, as far as its time lasts, and the next one starts at the beginning. */
  bounds?: SweepBounds;
  /** Starts a turn: what becomes due later than this moment belongs to the next turn. */
  begin: () => SweepBatch;
}

/** Of a step that goes through much that is rarely wrong. */
export interface SweepBounds {
  /** Most batches in one turn that repair nothing; one that does says that there is more to repair. */
  batches: number;
  /** A pass begins no sooner than this after the last one has ended. Milliseconds. */
  everyMs: number;
}

/** Where and when a step was last at work, kept in Redis, so that any process continues where another stopped. */
export interface SweepProgress {
  cursor: string | null;
  /** Unix milliseconds of its last batch. */
  at_ms: number;
  /** Unix milliseconds at which it last reached the end; null if it never did. */
  ended_at_ms: number | null;
}

type Deps = { redis: RedisClient; keys: RedisKeys };

/** Returns the progress of the steps that have run, by step. Throws `unavailable`. */
export async function readSweepProgress(platform: Deps): Promise<Map<string, SweepProgress>> {
  const all = await platform.redis.hgetall(platform.keys.sweepTurns());
  return new Map(Object.entries(all).map(([step, text]) => [step, JSON.parse(text) as SweepProgress]));
}

/** Stores the progress of a step. Throws `unavailable`. */
export async function writeSweepProgress(
  platform: Deps,
  step: string,
  progress: SweepProgress,
): Promise<void> {
  await platform.redis.hset(platform.keys.sweepTurns(), step, JSON.stringify(progress));
}
