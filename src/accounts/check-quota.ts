import { LRUCache } from "lru-cache";
import { AppError } from "../lib/errors.ts";
import type { Platform } from "../platform.ts";
import { cachedPlanOf, type LimitDeps } from "./limits.ts";
import { usageToday } from "./usage.ts";

export type QuotaDeps = LimitDeps & Pick<Platform, "redis" | "keys">;

const DAY_MS = 86_400_000;
/** How long a process uses what it has read of an account's quota. Milliseconds. */
const READ_EVERY_MS = 5000;
const MAX_ACCOUNTS = 10_000;

/** The error for an account that has used up its day; quotas start again at midnight UTC. */
const quotaExceeded = ({ clock }: Pick<Platform, "clock">) =>
  new AppError("rate-limited", "the account's daily quota is used up", {
    retryAfterMs: DAY_MS - (clock() % DAY_MS),
  });

async function isUsedUp(platform: QuotaDeps, ownerId: string): Promise<boolean> {
  if ((await cachedPlanOf(platform, ownerId)) === "paid") return false;
  const { dailyInvocations, dailyComputeMs } = platform.config.quotas;
  const { invocations, compute } = await usageToday(platform, ownerId);
  return invocations >= dailyInvocations || compute >= dailyComputeMs;
}

/**
 * Throws `rate-limited` if a free account has used up its daily quota (docs/design.md#quotas). For work that is not a run
 * and uses a sandbox all the same: hooks, and describing a component.
 */
export async function checkQuota(platform: QuotaDeps, ownerId: string): Promise<void> {
  if (await isUsedUp(platform, ownerId)) throw quotaExceeded(platform);
}

/**
 * Opens the check for requests that become runs: as `checkQuota`, but by what this process read up to five seconds ago, so
 * that no request waits for it. The run itself is checked again.
 */
export function openQuotaGate(platform: QuotaDeps): (ownerId: string) => void {
  const accounts = new LRUCache<string, { readAt: number; isUsedUp: boolean }>({ max: MAX_ACCOUNTS });
  return ownerId => {
    const known = accounts.get(ownerId) ?? { readAt: Number.NEGATIVE_INFINITY, isUsedUp: false };
    if (performance.now() - known.readAt > READ_EVERY_MS) {
      const noted = { readAt: performance.now(), isUsedUp: known.isUsedUp };
      accounts.set(ownerId, noted);
      isUsedUp(platform, ownerId).then(
        result => {
          noted.isUsedUp = result;
        },
        () => undefined,
      );
    }
    if (known.isUsedUp) throw quotaExceeded(platform);
  };
}
