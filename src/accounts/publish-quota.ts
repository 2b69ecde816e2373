import { LRUCache } from "lru-cache";
import { createDeferredBatcher } from "../lib/batcher.ts";
import { AppError } from "../lib/errors.ts";
import type { Platform } from "../platform.ts";
import { notePublished, type QuotaAlertDeps } from "./quota-alerts.ts";
import { countPublished, usageToday } from "./usage.ts";

type Deps = QuotaAlertDeps & Pick<Platform, "redis" | "keys">;

const DAY_MS = 86_400_000;
/** How long a process uses what it has read. Milliseconds. */
const READ_EVERY_MS = 5000;
const MAX_ACCOUNTS = 10_000;

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
  readonly #platform: Deps;
  readonly #accounts = new LRUCache<string, Used>({ max: MAX_ACCOUNTS });
  readonly #countLater: (entries: [ownerId: string, count: number][]) => void;

  constructor(platform: Deps) {
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
