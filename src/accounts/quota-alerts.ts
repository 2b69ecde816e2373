import { LRUCache } from "lru-cache";
import { type AlertDeps, raiseAlert } from "../alerts/raise.ts";
import { cachedPlanOf, type LimitDeps } from "./limits.ts";
import type { Usage } from "./usage.ts";

export type QuotaAlertDeps = AlertDeps & LimitDeps;

/** What an account used of something of which it may use only so much in a day. */
interface Use {
  quota: "invocations" | "compute" | "published_events";
  /** For people. */
  what: string;
  used: number;
  most: number;
}

const DAY_MS = 86_400_000;
/** The first share, in percent, of which an account is alerted. */
const FIRST = 80;

/** Alerts that this process raised or found raised: an account near its quota is not looked up for each run. */
const known = new LRUCache<string, true>({ max: 10_000 });

/**
 * Alerts a free account that has used 80 % or all of the runs or the compute time of a day (UTC), once for each. Costs
 * nothing below that. Returns at once and never throws: what could not be raised is raised when more is used.
 */
export function noteRunsUsed(
  platform: QuotaAlertDeps,
  ownerId: string,
  used: Pick<Usage, "invocations" | "compute">,
): void {
  const { dailyInvocations, dailyComputeMs } = platform.config.quotas;
  const isFree = async () => (await cachedPlanOf(platform, ownerId)) === "free";
  note(
    platform,
    ownerId,
    { quota: "invocations", what: "runs", used: used.invocations, most: dailyInvocations },
    isFree,
  );
  note(
    platform,
    ownerId,
    { quota: "compute", what: "milliseconds of compute time", used: used.compute, most: dailyComputeMs },
    isFree,
  );
}

/** As `noteRunsUsed`, for the events that an account has published, of which each plan allows so many a day. */
export function notePublished(platform: QuotaAlertDeps, ownerId: string, used: number, most: number): void {
  note(
    platform,
    ownerId,
    { quota: "published_events", what: "published events", used, most },
    async () => true,
  );
}

function note(platform: QuotaAlertDeps, ownerId: string, use: Use, holds: () => Promise<boolean>): void {
  if (use.used * 100 < use.most * FIRST) return;
  const percent = use.used >= use.most ? 100 : FIRST;
  const now = platform.clock();
  const dayMs = now - (now % DAY_MS);
  const key = `${ownerId} ${use.quota} ${percent} ${dayMs}`;
  if (known.has(key)) return;
  known.set(key, true);
  raise(platform, ownerId, use, percent, dayMs, holds).catch((error: unknown) => {
    known.delete(key);
    platform.log.warn({ owner_id: ownerId, quota: use.quota, err: error }, "a quota alert can't be raised");
  });
}

async function raise(
  platform: QuotaAlertDeps,
  ownerId: string,
  { quota, what, used, most }: Use,
  percent: 80 | 100,
  dayMs: number,
  holds: () => Promise<boolean>,
): Promise<void> {
  if (!(await holds())) return;
  const until = new Date(dayMs + DAY_MS).toISOString();
  await raiseAlert(platform, {
    ownerId,
    type: `quota.${percent}`,
    subject: null,
    part: quota,
    sinceMs: dayMs,
    message:
      percent === 100
        ? `the ${most} ${what} of the day are used up, until ${until}`
        : `${used} of the ${most} ${what} of the day are used; it ends at ${until}`,
    details: { quota, used, most },
  });
}
