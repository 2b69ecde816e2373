import { AppError } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { PlanLimits } from "../limits/plan-limits.ts";
import type { User } from "../models/user.ts";
import type { Platform } from "../platform.ts";
import type { QueueBounds } from "../store/run-queue.ts";
import { planOf } from "./users.ts";

export type LimitDeps = Pick<Platform, "mongo" | "clock" | "config" | "routing">;

/** As `planOf`, but cached for seconds. An owner that is not an account, such as the registry of components, is paid. */
export async function cachedPlanOf(platform: LimitDeps, ownerId: string): Promise<User["plan"]> {
  const found = await platform.routing.lookUp(
    "plan",
    [ownerId],
    async () => {
      const plan = await planOf(platform, ownerId).catch((error: unknown): User["plan"] => {
        if (error instanceof AppError && error.code === "not-found") return "paid";
        throw error;
      });
      return new Map([[ownerId, plan]]);
    },
    () => [ownerId],
  );
  return found.get(ownerId) ?? "free";
}

/** Returns the bounds of an account: those of its plan (docs/limits.md). */
export async function limitsOf(platform: LimitDeps, ownerId: string): Promise<PlanLimits> {
  return platform.config.limits[await cachedPlanOf(platform, ownerId)];
}

/** Returns how many runs, and bytes of them, may wait for one source of an account. */
export async function queueBounds(platform: LimitDeps, ownerId: string): Promise<QueueBounds> {
  const { queuedBytesPerSource, queuedBytes } = await limitsOf(platform, ownerId);
  return { ownerId, runs: LIMITS.queuedRuns.value, bytes: queuedBytesPerSource, accountBytes: queuedBytes };
}
