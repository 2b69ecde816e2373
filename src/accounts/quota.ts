import { LRUCache } from "lru-cache";
import { raiseAlert } from "../alerts/raise.ts";
import { createDeferredBatcher } from "../lib/batcher.ts";
import { AppError } from "../lib/errors.ts";
import type { Observed, Stores } from "../platform.ts";
import { cachedPlanOf } from "./limits.ts";
import { countPublished, type Usage, usageToday } from "./usage.ts";

const DAY_MS = 86_400_000;
/** How long a process uses what it has read of an account's quota. Milliseconds. */
const READ_EVERY_MS = 5000;
const MAX_ACCOUNTS = 10_000;

/** The error for an account that has used up its day; quotas start again at midnight UTC. */
const quotaExceeded = ({ clock }: Stores) =>
  new AppError("rate-limited", "the account's daily quota is used up", {
    retryAfterMs: DAY_MS - (clock() % DAY_MS),
  });

async function isUsedUp(platform: Stores, ownerId: string): Promise<boolean> {
  if ((await cachedPlanOf(platform, ownerId)) === "paid") return false;
  const { dailyInvocations, dailyComputeMs } = platform.config.quotas;
  const { invocations, compute } = await usageToday(platform, ownerId);
  return invocations >= dailyInvocations || compute >= dailyComputeMs;
}

/**
 * Throws `rate-limited` if a free account has used up its daily quota (docs/design.md#quotas). For work that is not a run
 * and uses a sandbox all the same: hooks, and describing a component.
 */
export async function checkQuota(platform: Stores, ownerId: string): Promise<void> {
  if (await isUsedUp(platform, ownerId)) throw quotaExceeded(platform);
}

/**
 * Opens the check for requests that become runs: as `checkQuota`, but by what this process read up to five seconds ago, so
 * that no request waits for it. The run itself is checked again.
 */
export function openQuotaGate(platform: Stores): (ownerId: string) => void {
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

interface Used {
  day: number;
  /** Events of all processes when it was read, and of this one since. */
  events: number;
  /** Those of this process that Redis does not know of yet. */
  pending: number;
  readAt: number;
}

/**
 * The events that accounts publish in a day, of which a plan allows so many. They are counted in Redis half a second later,
 * many at once, so that no request waits for it; what a process that is killed had not counted yet is not counted.
 */
export class PublishQuota {
  readonly #platform: Stores & Observed;
  readonly #accounts = new LRUCache<string, Used>({ max: MAX_ACCOUNTS });
  readonly #countLater: (entries: [ownerId: string, count: number][]) => void;

  constructor(platform: Stores & Observed) {
    this.#platform = platform;
    this.#countLater = createDeferredBatcher(
      entries => this.#flush(entries),
      () => undefined,
    );
  }

  /**
   * Counts events for an account. Throws `rate-limited` until midnight (UTC) if it has published as many as `most` today,
   * and `unavailable` if Redis can't say how many it has.
   */
  async count(ownerId: string, events: number, most: number): Promise<void> {
    const used = await this.#used(ownerId);
    if (used.events + events > most) {
      notePublished(this.#platform, ownerId, most, most);
      throw new AppError("rate-limited", `the account may publish ${most} events a day`, {
        retryAfterMs: DAY_MS - (this.#platform.clock() % DAY_MS),
      });
    }
    used.events += events;
    used.pending += events;
    notePublished(this.#platform, ownerId, used.events, most);
    this.#countLater([[ownerId, events]]);
  }

  async #used(ownerId: string): Promise<Used> {
    const day = Math.floor(this.#platform.clock() / DAY_MS);
    const known = this.#accounts.get(ownerId);
    if (known?.day !== day) return await this.#read(ownerId, day);
    if (performance.now() - known.readAt > READ_EVERY_MS) {
      known.readAt = performance.now();
      // Not awaited: what is known is good enough.
      void this.#read(ownerId, day).catch(() => undefined);
    }
    return known;
  }

  async #read(ownerId: string, day: number): Promise<Used> {
    const { published } = await usageToday(this.#platform, ownerId);
    const known = this.#accounts.get(ownerId);
    const used = known?.day === day ? known : { day, events: 0, pending: 0, readAt: performance.now() };
    used.events = published + used.pending;
    this.#accounts.set(ownerId, used);
    return used;
  }

  async #flush(entries: [ownerId: string, count: number][]): Promise<void> {
    const counts = new Map<string, number>();
    for (const [ownerId, count] of entries) counts.set(ownerId, (counts.get(ownerId) ?? 0) + count);
    await countPublished(this.#platform, counts);
    for (const [ownerId, count] of counts) {
      const used = this.#accounts.get(ownerId);
      if (used) used.pending = Math.max(0, used.pending - count);
    }
  }
}

/** What an account used of something of which it may use only so much in a day. */
interface Use {
  quota: "invocations" | "compute" | "published_events";
  /** For people. */
  what: string;
  used: number;
  most: number;
}
/** The first share, in percent, of which an account is alerted. */
export const FIRST_QUOTA_PERCENT = 80;

/** Alerts that this process raised or found raised: an account near its quota is not looked up for each run. */
const known = new LRUCache<string, true>({ max: 10_000 });

/**
 * Alerts a free account that has used 80 % or all of the runs or the compute time of a day (UTC), once for each. Costs
 * nothing below that. Returns at once and never throws: what could not be raised is raised when more is used.
 */
export function noteRunsUsed(
  platform: Stores & Observed,
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
function notePublished(platform: Stores & Observed, ownerId: string, used: number, most: number): void {
  note(
    platform,
    ownerId,
    { quota: "published_events", what: "published events", used, most },
    async () => true,
  );
}

function note(platform: Stores & Observed, ownerId: string, use: Use, holds: () => Promise<boolean>): void {
  if (use.used * 100 < use.most * FIRST_QUOTA_PERCENT) return;
  const percent = use.used >= use.most ? 100 : FIRST_QUOTA_PERCENT;
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
  platform: Stores & Observed,
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
