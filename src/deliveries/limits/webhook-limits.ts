import { LRUCache } from "lru-cache";
import { actionMs } from "../../destinations/action/settings.ts";
import { createBatcher } from "../../lib/batcher.ts";
import { groupBy } from "../../lib/lists.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Queued, Stores } from "../../platform.ts";
import { enqueueDrain } from "../../queues/deliveries.ts";
import type { PermitLimits } from "../../store/limits/permits.ts";
import { timeoutMsOf } from "../../webhooks/delivery-settings.ts";

/** A webhook as far as its permits are concerned. */
export type WebhookLimits = Pick<
  Webhook,
  "_id" | "failing_since_ms" | "kind" | "max_in_flight" | "rate_limit_per_second" | "ordered"
> & {
  /** The account that owns it; undefined for one that is deleted, where nothing else says so. */
  owner_id: string | undefined;
};

/** The limits of a webhook that is deleted or disabled: what is due at it goes on, in order to end. */
export const unlimited = (webhook: Pick<WebhookLimits, "_id" | "owner_id">): WebhookLimits => ({
  ...webhook,
  failing_since_ms: null,
  max_in_flight: null,
  rate_limit_per_second: null,
  ordered: false,
});

/** Beyond the attempt itself: loading and recording. */
const ATTEMPT_MARGIN_MS = 30_000;

/** How long an attempt may be under way. Milliseconds. */
export const attemptMs = (
  { config }: Pick<Stores, "config">,
  webhook: Pick<Webhook, "kind" | "timeout_seconds">,
): number =>
  (webhook.kind === "action" ? actionMs(config) : timeoutMsOf(config, webhook)) + ATTEMPT_MARGIN_MS;

/**
 * How many deliveries to a webhook may be in flight. A failing webhook gets a single permit: each of its attempts may last
 * until the time limit, and a handful of dead endpoints must not hold every slot (docs/design.md#guarantee-5).
 */
export function permitCount(platform: Stores, webhook: WebhookLimits): number {
  if (webhook.failing_since_ms !== null || webhook.ordered) return 1;
  return webhook.max_in_flight ?? platform.config.deliveries.perWebhook;
}

/**
 * How long a permit outlives its process. A killed process may have held all of a webhook's, and until they expire nothing goes
 * to it; a living process renews in time. Milliseconds.
 */
export const permitTtlMs = ({ config }: Stores): number => config.stalledAfterMs * 2;

export const permitLimits = (platform: Stores, webhook: WebhookLimits): PermitLimits => ({
  permits: permitCount(platform, webhook),
  ttlMs: permitTtlMs(platform),
});

/** Releases permits by name, and has what is due at the webhook sent if it waited for them. Throws `unavailable`. */
export async function releasePermits(
  platform: Stores & Queued,
  webhook: WebhookLimits,
  names: string[],
): Promise<void> {
  const mustDrain = await platform.permits.release(webhook._id, names, permitCount(platform, webhook));
  if (mustDrain) await enqueueDrain(platform, webhook);
}

/** One process's permits at one webhook. */
type Held = [webhookId: string, names: string[]];

/** Renews what `held` returns, permits and drains, until the returned function is called. */
export function renewPermits(platform: Stores & Queued, held: () => Held[]): () => void {
  const ttlMs = permitTtlMs(platform);
  const renew = async () => {
    for (const [webhookId, names] of held()) {
      // While Redis is away no other process acquires them either; those that expired are acquired again.
      if (names.length > 0) await platform.permits.renew(webhookId, names, ttlMs).catch(() => undefined);
    }
  };
  const timer = setInterval(() => void renew(), ttlMs / 4);
  timer.unref();
  return () => clearInterval(timer);
}

type RateLimited = Pick<Webhook, "_id" | "rate_limit_per_second">;

/** The rate limits of webhooks, as one process sees them: first attempts acquire their tokens here. */
export interface RateLimits {
  /** Returns true if it is known, without asking Redis, that no token is available. */
  isExhausted(webhook: RateLimited): boolean;
  /** Acquires a token, unless those left belong to the webhook's backlog. A webhook without a limit always has one. */
  tryAcquire(webhook: RateLimited): Promise<boolean>;
}

export const isRateLimited = ({ rate_limit_per_second: limit }: RateLimited): boolean =>
  (limit ?? null) !== null;

/** A backlog, which goes first, needs at least this long. Milliseconds. */
const BACKLOG_MS = 50;

export function openRateLimits(platform: Queued): RateLimits {
  const exhausted = new LRUCache<string, true>({ max: 10_000 });

  const acquire = createBatcher(
    async (webhooks: RateLimited[]) => {
      const acquired = new Map<string, number>();
      await Promise.all(
        [...groupBy(webhooks, ({ _id }) => _id)].map(async ([id, group]) => {
          const perSecond = group[0]?.rate_limit_per_second ?? 1;
          const tokens = await platform.permits.acquireTokens(id, group.length, perSecond, true);
          acquired.set(id, tokens.acquired);
          const ttl = Math.max(tokens.nextInMs, BACKLOG_MS);
          if (tokens.acquired < group.length) exhausted.set(id, true, { ttl });
        }),
      );
      return webhooks.map(({ _id }) => {
        const left = acquired.get(_id) ?? 0;
        acquired.set(_id, left - 1);
        return left > 0;
      });
    },
    { maxWeight: 1000 },
  );

  return {
    isExhausted: webhook => isRateLimited(webhook) && exhausted.has(webhook._id),
    tryAcquire: async webhook => !isRateLimited(webhook) || (await acquire(webhook)),
  };
}

/**
 * The permits of one drain of a webhook. Its attempts take them in turn. A permit whose attempt outlives the drain is
 * released when that attempt ends. They are renewed for as long as one is held.
 */
export class DrainPermits {
  readonly #platform: Stores & Queued;
  readonly #webhook: WebhookLimits;
  /** Names the drain; those of its permits are derived from it. */
  readonly #name: string;
  readonly #stopRenewing: () => void;
  #free: string[];
  readonly #inUse = new Set<string>();
  #waiting: ((permit: string | null) => void)[] = [];
  #named = 1;
  #isClosed = false;
  #isOver = false;
  #isEnded = false;

  private constructor(platform: Stores & Queued, webhook: WebhookLimits, name: string) {
    this.#platform = platform;
    this.#webhook = webhook;
    this.#name = name;
    this.#free = [`${name}-0`];
    this.#stopRenewing = renewPermits(platform, () => {
      const permits = [...this.#free, ...this.#inUse];
      return [[webhook._id, this.#isEnded ? permits : [name, ...permits]]];
    });
  }

  /**
   * Begins a drain, which has a permit then. The name is that of its job, so that a job that is started again after a crash goes
   * on. Returns `permit` or `drain` if it must not begin (src/store/limits/permits.ts). Throws `unavailable`.
   */
  static async begin(
    platform: Stores & Queued,
    webhook: WebhookLimits,
    name: string,
  ): Promise<DrainPermits | "permit" | "drain"> {
    const limits = permitLimits(platform, webhook);
    const begun = await platform.permits.beginDrain(webhook._id, { name, permit: `${name}-0` }, limits);
    return begun === "begun" ? new DrainPermits(platform, webhook, name) : begun;
  }

  /** True once no further attempt of this drain begins. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Acquires more permits, so that up to `wanted` attempts are in flight. */
  async widen(wanted: number): Promise<void> {
    const most = Math.min(wanted, permitCount(this.#platform, this.#webhook));
    const more = most - this.#free.length - this.#inUse.size;
    if (more <= 0) return;
    const names = Array.from({ length: more }, () => `${this.#name}-${this.#named++}`);
    const limits = { ...permitLimits(this.#platform, this.#webhook), afterBacklog: false };
    const { acquired } = await this.#platform.permits.acquire(this.#webhook._id, names, limits);
    this.#free.push(...names.slice(0, acquired));
  }

  /** Resolves with a permit for one attempt, to be given back; with null if the drain is closed, or over before one is free. */
  acquire(): Promise<string | null> {
    const permit = this.#isClosed ? undefined : this.#free.shift();
    if (permit !== undefined) {
      this.#inUse.add(permit);
      return Promise.resolve(permit);
    }
    return this.#isOver ? Promise.resolve(null) : new Promise(resolve => this.#waiting.push(resolve));
  }

  /**
   * Takes back a permit, for the next attempt that waits. Once the drain has ended it is released; `isFailing`, whether the webhook
   * fails now, decides how many it has. Throws `unavailable` then; the permit expires.
   */
  async giveBack(permit: string, isFailing: boolean): Promise<void> {
    this.#inUse.delete(permit);
    const next = this.#waiting.shift();
    if (next) {
      this.#inUse.add(permit);
      next(permit);
      return;
    }
    if (!this.#isEnded) {
      this.#free.push(permit);
      return;
    }
    if (this.#inUse.size === 0) this.#stopRenewing();
    const failing_since_ms = isFailing ? this.#platform.clock() : null;
    await releasePermits(this.#platform, { ...this.#webhook, failing_since_ms }, [permit]);
  }

  /** Lets no further attempt begin. */
  close(): void {
    this.#isClosed = true;
    this.beOver();
  }

  /** Lets attempts wait for a permit no longer; one that finds a free one begins all the same. */
  beOver(): void {
    this.#isOver = true;
    for (const resolve of this.#waiting.splice(0)) resolve(null);
  }

  /** Ends the drain and releases the permits that are not in use. `leavesBacklog`: some that are due could not be sent. */
  async end(leavesBacklog: boolean): Promise<void> {
    this.close();
    this.#isEnded = true;
    if (this.#inUse.size === 0) this.#stopRenewing();
    const permits = this.#free.splice(0);
    const drain = { name: this.#name, permits, leavesBacklog };
    const count = permitCount(this.#platform, this.#webhook);
    const mustDrain = await this.#platform.permits.endDrain(this.#webhook._id, drain, count);
    if (mustDrain) await enqueueDrain(this.#platform, this.#webhook);
  }
}
