import type { Stores } from "../platform.ts";
import {
  readUnitProgress,
  type SweepProgress,
  type SweepStep,
  type SweepUnit,
  writeSweepProgress,
} from "../store/sweeps/sweep-turns.ts";

interface TurnOptions {
  /** Milliseconds after which the turn ends with the batch under way; the next turn continues there. */
  budgetMs: number;
  /** True once this process must not go on: it stops, or has lost its claim on the unit. */
  mustEnd: () => boolean;
  /** Called with what each batch repaired. */
  onRepaired: (count: number) => void;
}

/**
 * Runs one turn of a unit: batch after batch from where the last one stopped, until it reaches the end, its budget is
 * used up or it must end. Throws as the step does; then the same batch comes first in the next turn.
 */
export async function runTurn(
  platform: Stores,
  { name, step, part }: SweepUnit,
  options: TurnOptions,
): Promise<void> {
  const before = await readUnitProgress(platform, name);
  if (before && !isDue(step, before, platform.clock())) {
    return await writeSweepProgress(platform, name, { ...before, at_ms: platform.clock() });
  }
  const sweep = step.begin(part);
  const endsAt = performance.now() + options.budgetMs;
  let cursor = before?.cursor ?? null;
  let ended_at_ms = before?.ended_at_ms ?? null;
  const mostQuiet = step.bounds?.batches ?? Number.POSITIVE_INFINITY;
  let quiet = 0;
  do {
    if (options.mustEnd()) return;
    const { repaired, next } = await sweep(cursor);
    options.onRepaired(repaired);
    cursor = next;
    const at_ms = platform.clock();
    if (cursor === null) ended_at_ms = at_ms;
    await writeSweepProgress(platform, name, { cursor, at_ms, ended_at_ms });
    if (repaired === 0) quiet += 1;
  } while (cursor !== null && quiet < mostQuiet && performance.now() < endsAt);
}

/** Whether a step is in the middle of a pass, or its next one may begin. */
function isDue({ bounds }: SweepStep, progress: SweepProgress, nowMs: number): boolean {
  if (!bounds || progress.cursor !== null || progress.ended_at_ms === null) return true;
  // A moment that is still to come was written before the clock of Redis went back.
  const sinceMs = nowMs - progress.ended_at_ms;
  return sinceMs >= bounds.everyMs || sinceMs < 0;
}
