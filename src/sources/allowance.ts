import { planOf } from "../users/service.ts";
import { usageToday } from "../users/usage.ts";
import type { RunPlatform } from "./run-platform.ts";

/** What the account may still run today: its usage is read once for a batch, and counted on in it. */
export async function openAllowance(platform: RunPlatform, ownerId: string) {
  const { dailyInvocations, dailyComputeMs } = platform.config.quotas;
  const usage = await usageToday(platform, ownerId);
  let plan: string | undefined;
  return {
    async take(): Promise<boolean> {
      if (usage.invocations >= dailyInvocations || usage.compute >= dailyComputeMs) {
        plan ??= await planOf(platform, ownerId);
        if (plan === "free") return false;
      }
      usage.invocations += 1;
      return true;
    },
    spend(ms: number): void {
      usage.compute += ms;
    },
  };
}
