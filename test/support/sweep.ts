import type { Platform } from "../../src/platform.ts";
import { STEP_NAMES, type StepName, sweepSteps } from "../../src/reconcile/steps.ts";
import { runTurn } from "../../src/reconcile/turn.ts";

/** Runs one whole turn of a step of the reconciler; returns how many items it repaired. */
export async function sweep(platform: Platform, name: StepName): Promise<number> {
  const step = sweepSteps(platform).find(one => one.name === name);
  if (!step) throw new Error(`no step ${name}`);
  let repaired = 0;
  await runTurn(platform, step, {
    budgetMs: Number.POSITIVE_INFINITY,
    mustEnd: () => false,
    onRepaired: count => {
      repaired += count;
    },
  });
  return repaired;
}

/** Runs one whole turn of every step; returns how many items each repaired. */
export async function sweepAll(platform: Platform): Promise<Record<string, number>> {
  const counts = await Promise.all(
    STEP_NAMES.map(async name => [name, await sweep(platform, name)] as const),
  );
  return Object.fromEntries(counts);
}
