import { HeldLock } from "../../lib/held-lock.ts";
import type { Part } from "../../lib/part.ts";
import type { RedisClient } from "../connections/redis.ts";
import type { RedisKeys } from "../keys.ts";
import { script } from "../lua.ts";

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
  /** Into how many parts it is divided now; 1 without it. */
  parts?: () => number;
  /** Starts a turn of a part of it: what becomes due later than this moment belongs to the next turn. */
  begin: (part: Part) => SweepBatch;
}

/** A step, or a part of one: what one process at a time is at work on, from a place of its own. */
export interface SweepUnit {
  /** That of its step, if it is all of it. */
  name: string;
  step: SweepStep;
  part: Part;
}

/** Returns the names of the units into which a step is divided. */
export const unitNames = (step: string, parts: number): string[] =>
  Array.from({ length: parts }, (_, index) => (parts === 1 ? step : `${step} ${index + 1}/${parts}`));

/** Returns the units of all steps, as they are divided now. */
export const unitsOf = (steps: SweepStep[]): SweepUnit[] =>
  steps.flatMap(step => {
    const of = step.parts?.() ?? 1;
    return unitNames(step.name, of).map((name, index) => ({ name, step, part: { index, of } }));
  });

/** Of a step that goes through much that is rarely wrong. */
export interface SweepBounds {
  /** Most batches in one turn that repair nothing; one that does says that there is more to repair. */
  batches: number;
  /** A pass begins no sooner than this after the last one has ended. Milliseconds. */
  everyMs: number;
}

/** Where and when a unit was last worked on, kept in Redis, so that any process continues where another stopped. */
export interface SweepProgress {
  cursor: string | null;
  /** Unix milliseconds of its last batch. */
  at_ms: number;
  /** Unix milliseconds at which it last reached the end; null if it never did. */
  ended_at_ms: number | null;
}

type Deps = { redis: RedisClient; keys: RedisKeys };

/** Returns the progress of the units that were worked on, by name. Throws `unavailable`. */
export async function readSweepProgress(platform: Deps): Promise<Map<string, SweepProgress>> {
  const all = await platform.redis.hgetall(platform.keys.sweepTurns());
  return new Map(Object.entries(all).map(([unit, text]) => [unit, JSON.parse(text) as SweepProgress]));
}

/** Returns the progress of one unit; null if it was never worked on. Throws `unavailable`. */
export async function readUnitProgress(platform: Deps, unit: string): Promise<SweepProgress | null> {
  const text = await platform.redis.hget(platform.keys.sweepTurns(), unit);
  return text === null ? null : (JSON.parse(text) as SweepProgress);
}

/** Stores the progress of a unit. Throws `unavailable`. */
export async function writeSweepProgress(
  platform: Deps,
  unit: string,
  progress: SweepProgress,
): Promise<void> {
  await platform.redis.hset(platform.keys.sweepTurns(), unit, JSON.stringify(progress));
}

type ClaimDeps = { redis: RedisClient; keys: RedisKeys; processId: string };

const claim = script<[more: number, ...units: string[]]>("claim-sweep-units");
const set = script<number>("set-sweep-unit");

interface ClaimOptions {
  /** Most units to claim. */
  most: number;
  /** A claim lasts so long after it was renewed. Milliseconds. */
  ttlMs: number;
  /** A unit that was done is due again after this at most. Milliseconds. */
  everyMs: number;
  /** Called when a claim ends: the milliseconds after which the unit is due again, none if that is past. */
  dueInMs: () => number;
}

export interface Claimed {
  /** The units that are claimed now, and what holds them for as long as this process lives and does not release them. */
  locks: Map<string, HeldLock>;
  /** How many others are due. */
  more: number;
}

/**
 * Claims some of these units of the reconciler's work, no two processes the same one at a time: those that are due for the
 * longest, and those that this process has claimed and is not at work on, which it must not name otherwise. One command,
 * whether there is anything to claim or not. The time is Redis' own. Throws `unavailable`.
 */
export async function claimUnits(
  { redis, keys, processId }: ClaimDeps,
  units: string[],
  { most, ttlMs, everyMs, dueInMs }: ClaimOptions,
): Promise<Claimed> {
  if (units.length === 0) return { locks: new Map(), more: 0 };
  const askedAt = performance.now();
  const names = [keys.sweepUnits()];
  const [more, ...claimed] = await claim(redis, names, [
    processId,
    ttlMs,
    Math.max(ttlMs, everyMs),
    most,
    ...units,
  ]);
  const hold = (unit: string) =>
    new HeldLock({
      ttlMs,
      askedAt,
      renew: async isLate =>
        (await set(redis, names, [unit, processId, ttlMs, processId])) === 1 && !isLate(),
      release: () => set(redis, names, [unit, processId, Math.max(0, Math.round(dueInMs())), ""]),
    });
  return { locks: new Map(claimed.map(unit => [unit, hold(unit)])), more };
}
