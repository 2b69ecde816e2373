import type { Platform } from "../../src/platform.ts";
import { STEP_NAMES, type StepName } from "../../src/reconcile/parts.ts";
import { sweepSteps } from "../../src/reconcile/steps.ts";
import { runTurn } from "../../src/reconcile/turn.ts";
import { unitsOf } from "../../src/store/sweeps/sweep-turns.ts";

/** Runs one whole turn of each part of a step of the reconciler; returns how many items it repaired. */
export async function sweep(platform: Platform, name: StepName): Promise<number> {
  let repaired = 0;
  for (const unit of unitsOf(sweepSteps(platform).filter(step => step.name === name))) {
    await runTurn(platform, unit, {
      budgetMs: Number.POSITIVE_INFINITY,
      mustEnd: () => false,
      onRepaired: count => {
        repaired += count;
      },
    });
  }
  return repaired;
}

/** Runs one whole turn of every step; returns how many items each repaired. */
export async function sweepAll(platform: Platform): Promise<Record<string, number>> {
  const counts = await Promise.all(
    STEP_NAMES.map(async name => [name, await sweep(platform, name)] as const),
  );
  return Object.fromEntries(counts);
}
