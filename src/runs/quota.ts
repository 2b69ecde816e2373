import { cachedPlanOf } from "../accounts/limits.ts";
import { usageToday } from "../accounts/usage.ts";
import type { RunDeps } from "./deps.ts";

export interface Quota {
  /**
   * Reserves as many of `most` runs as are allowed and returns them with the milliseconds they may compute before the
   * next reservation. Runs that are not executed must be refunded.
   */
  reserve(most: number, forMs: number): Promise<{ runs: number; forMs: number }>;
  refund(runs: number): void;
  /** Counts compute time, in milliseconds. */
  spend(ms: number): void;
}

/** Opens what an account may still run today (docs/design.md#quotas): its usage is read once for a batch of runs. */
export async function openQuota(platform: RunDeps, ownerId: string): Promise<Quota> {
  const { dailyInvocations, dailyComputeMs } = platform.config.quotas;
  const usage = await usageToday(platform, ownerId);
  let isLimited: boolean | undefined;

  return {
    async reserve(most, forMs) {
      const runsLeft = Math.max(0, dailyInvocations - usage.invocations);
      const computeMsLeft = Math.max(0, dailyComputeMs - usage.compute);
      let reserved = { runs: most, forMs };
      if (runsLeft < most || computeMsLeft < forMs) {
        // The plan is read only near the limit, where few free accounts ever are.
        isLimited ??= (await cachedPlanOf(platform, ownerId)) === "free";
        if (isLimited) {
          const runs = computeMsLeft > 0 ? Math.min(most, runsLeft) : 0;
          reserved = { runs, forMs: Math.min(computeMsLeft, forMs) };
        }
      }
      usage.invocations += reserved.runs;
      return reserved;
    },
    refund(runs) {
      usage.invocations -= runs;
    },
    spend(ms) {
      usage.compute += ms;
    },
  };
}
