import { usageToday } from "../accounts/usage.ts";
import { planOf } from "../accounts/users.ts";
import type { RunPlatform } from "./deps.ts";

/** What the account may still run today: its usage is read once for a batch, and counted on in it. */
export async function openAllowance(platform: RunPlatform, ownerId: string) {
  const { dailyInvocations, dailyComputeMs } = platform.config.quotas;
  const usage = await usageToday(platform, ownerId);
  let isLimited: boolean | undefined;

  const left = () => ({
    runs: Math.max(0, dailyInvocations - usage.invocations),
    computeMs: Math.max(0, dailyComputeMs - usage.compute),
  });

  return {
    /**
     * Counts as many of `most` runs as are allowed, and tells for how long they may compute before the next look; what is
     * not executed of them is to be given back.
     */
    async take(most: number, forMs: number): Promise<{ runs: number; forMs: number }> {
      const { runs, computeMs } = left();
      let taken = { runs: most, forMs };
      if (runs < most || computeMs < forMs) {
        // Asked only near the limit, which is where few accounts ever are.
        isLimited ??= (await planOf(platform, ownerId)) === "free";
        if (isLimited)
          taken = { runs: computeMs > 0 ? Math.min(most, runs) : 0, forMs: Math.min(computeMs, forMs) };
      }
      usage.invocations += taken.runs;
      return taken;
    },
    giveBack(runs: number): void {
      usage.invocations -= runs;
    },
    spend(ms: number): void {
      usage.compute += ms;
    },
  };
}
