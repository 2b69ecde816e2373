import { type Thread, thisThread } from "../../fairness/thread.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Queued, Stores } from "../../platform.ts";
import { permitCount, permitLimits, releasePermits, renewPermits, unlimited } from "./webhook-limits.ts";

/** What one process holds of a webhook's permits, and the attempts that wait for one. */
interface WebhookPermits {
  ownerId: string;
  /** Names of permits that this process holds and does not use. */
  free: string[];
  /** All permits that this process holds: since when, and since when the present attempt. */
  held: Map<string, { since: number; attemptSince: number }>;
  /** Names of permits whose release failed: they are released again, and used by no attempt until then. */
  unreleased: string[];
  waiting: { resolve: (permit: string | NoPermit) => void; since: number }[];
  isAcquiring: boolean;
  timer: NodeJS.Timeout | undefined;
  /** How long the endpoint takes to respond; a moving average. */
  responseMs: number;
}

/** Says that no permit, token or place will be free soon: the attempt becomes a pending delivery that is due. */
export class NoPermit {}
export const BUSY = new NoPermit();

/** An attempt that would wait longer becomes a pending delivery, which holds no job slot. */
const PATIENCE_MS = 1000;
/** An endpoint that responds within this time is quick: its attempts may wait longer, since they move on. */
const QUICK_RESPONSE_MS = 250;
/** While the processor is scarce, a response takes longer by our own fault: up to so many times as long is quick as well. */
const MAX_SCARCITY = 4;
const QUICK_PATIENCE_MS = 5000;
/** A permit held longer is released, so that other processes and the webhook's drains get their share. */
const MAX_HOLD_MS = 1000;
/** Between two attempts to acquire permits. */
const ACQUIRE_AGAIN_MS = 50;
/** After a release that Redis rejected. */
const RELEASE_AGAIN_MS = 500;
/** How long a free permit is kept for the next attempt. */
const IDLE_MS = 100;

/**
 * Permits of webhooks, cached in this process: consecutive attempts reuse a permit, so that a webhook with much to deliver
 * does not cost Redis two commands an attempt (docs/decisions/0012-few-jobs-and-round-trips.md).
 */
export class PermitCache {
  readonly #platform: Stores & Queued;
  readonly #name: string;
  readonly #webhooks = new Map<string, WebhookPermits>();
  readonly #thread: Thread;
  readonly #stopRenewing: () => void;
  #named = 0;
  #isClosed = false;

  /** `name` distinguishes this process's permits from those of others. */
  constructor(platform: Stores & Queued, name: string, thread: Thread = thisThread) {
    this.#platform = platform;
    this.#name = name;
    this.#thread = thread;
    this.#stopRenewing = renewPermits(platform, () =>
      [...this.#webhooks].map(([id, { held }]) => [id, [...held.keys()]]),
    );
  }

  /**
   * Does `work` with a permit and returns its result; a NoPermit, without calling it, if no permit will be free soon. The permit is
   * released however `work` ends: one that is held and not used would be renewed for as long as the process lives. `work`
   * may say through its argument whether the endpoint fails now, which decides how many permits there are.
   */
  async use<Result>(
    webhook: Webhook,
    work: (noteHealth: (isFailing: boolean) => void) => Promise<Result>,
  ): Promise<Result | NoPermit> {
    const permit = await this.#acquire(webhook);
    if (permit instanceof NoPermit) return permit;
    let after = webhook;
    try {
      return await work(isFailing => {
        if (isFailing === (webhook.failing_since_ms !== null)) return;
        after = { ...webhook, failing_since_ms: isFailing ? this.#platform.clock() : null };
      });
    } finally {
      this.#release(after, permit);
    }
  }

  get #quickMs(): number {
    return QUICK_RESPONSE_MS * Math.min(this.#thread.pressure, MAX_SCARCITY);
  }

  /** Returns the name of a permit for one attempt. */
  #acquire(webhook: Webhook): Promise<string | NoPermit> {
    const permits = this.#of(webhook);
    if (permits.waiting.length === 0 && permits.free.length > 0) {
      return Promise.resolve(startAttempt(permits));
    }
    if (isSaturated(permits, webhook, this.#quickMs)) return Promise.resolve(BUSY);
    return new Promise(resolve => {
      permits.waiting.push({ resolve, since: performance.now() });
      const mayHoldMore = permits.held.size < permitCount(this.#platform, webhook);
      if (mayHoldMore && !permits.isAcquiring) void this.#serve(webhook, permits);
      else this.#serveLater(webhook, permits, ACQUIRE_AGAIN_MS);
    });
  }

  /** Takes back the permit of an attempt that has ended. */
  #release(webhook: Webhook, permit: string): void {
    const permits = this.#of(webhook);
    const now = performance.now();
    const { since = 0, attemptSince = now } = permits.held.get(permit) ?? {};
    permits.responseMs += (now - attemptSince - permits.responseMs) / 8;
    const isFailing = webhook.failing_since_ms !== null;
    if (isFailing || now - since > MAX_HOLD_MS) {
      void this.#giveBack(webhook, permits, [permit]).then(() => this.#serve(webhook, permits));
      return;
    }
    permits.free.push(permit);
    if (permits.waiting.length > 0) assignFree(permits);
    else this.#serveLater(webhook, permits, IDLE_MS);
  }

  /** Releases every permit, also those in use, because the process ends. */
  async close(): Promise<void> {
    this.#stopRenewing();
    this.#isClosed = true;
    for (const [_id, { held, unreleased, ownerId }] of this.#webhooks) {
      const webhook = unlimited({ _id, owner_id: ownerId });
      await releasePermits(this.#platform, webhook, [...held.keys(), ...unreleased]);
    }
  }

  #of({ _id, owner_id: ownerId }: Webhook): WebhookPermits {
    let permits = this.#webhooks.get(_id);
    if (!permits) {
      permits = {
        ownerId,
        free: [],
        held: new Map(),
        unreleased: [],
        waiting: [],
        isAcquiring: false,
        timer: undefined,
        responseMs: 0,
      };
      this.#webhooks.set(_id, permits);
    }
    return permits;
  }

  #serveLater(webhook: Webhook, permits: WebhookPermits, inMs: number): void {
    permits.timer ??= setTimeout(() => {
      permits.timer = undefined;
      void this.#serve(webhook, permits);
    }, inMs);
  }

  /** Assigns free permits, acquires more, turns away attempts that waited too long, and gives back what is idle. */
  async #serve(webhook: Webhook, permits: WebhookPermits): Promise<void> {
    assignFree(permits);
    if (permits.waiting.length > 0) await this.#acquireMore(webhook, permits);
    const now = performance.now();
    const isQuick = permits.held.size > 0 && expectedResponseMs(permits) <= this.#quickMs;
    const patienceMs = isQuick ? QUICK_PATIENCE_MS : PATIENCE_MS;
    while (permits.waiting[0] && now - permits.waiting[0].since > patienceMs) {
      permits.waiting.shift()?.resolve(BUSY);
    }
    if (permits.waiting.length > 0) return this.#serveLater(webhook, permits, ACQUIRE_AGAIN_MS);
    const idle = [...permits.free.splice(0), ...permits.unreleased.splice(0)];
    if (idle.length > 0) await this.#giveBack(webhook, permits, idle);
    if (permits.unreleased.length > 0) return this.#serveLater(webhook, permits, RELEASE_AGAIN_MS);
    if (permits.held.size === 0 && permits.waiting.length === 0 && !permits.isAcquiring) {
      this.#webhooks.delete(webhook._id);
    }
  }

  async #acquireMore(webhook: Webhook, permits: WebhookPermits): Promise<void> {
    const most = permitCount(this.#platform, webhook);
    const wanted = Math.min(permits.waiting.length, most - permits.held.size);
    if (permits.isAcquiring || wanted <= 0) return;
    permits.isAcquiring = true;
    const names = Array.from({ length: wanted }, () => `${this.#name}-${++this.#named}`);
    try {
      const limits = { ...permitLimits(this.#platform, webhook), afterBacklog: true };
      const { acquired, isSecond } = await this.#platform.permits.acquire(webhook._id, names, limits);
      for (const permit of names.slice(0, acquired)) {
        permits.held.set(permit, { since: performance.now(), attemptSince: performance.now() });
        permits.free.push(permit);
      }
      // To wait behind a backlog here would hold a job slot that its drains need.
      if (permits.held.size === 0 && isSecond) {
        for (const { resolve } of permits.waiting.splice(0)) resolve(BUSY);
      }
    } catch {
      // Redis is away: the waiting attempts get no permit, and their job is repeated.
    } finally {
      permits.isAcquiring = false;
    }
    assignFree(permits);
  }

  async #giveBack(webhook: Webhook, permits: WebhookPermits, names: string[]): Promise<void> {
    for (const permit of names) permits.held.delete(permit);
    await releasePermits(this.#platform, webhook, names).catch(() => {
      // After close() they expire.
      if (!this.#isClosed) permits.unreleased.push(...names);
    });
  }
}

function assignFree(permits: WebhookPermits): void {
  while (permits.waiting.length > 0 && permits.free.length > 0) {
    permits.waiting.shift()?.resolve(startAttempt(permits));
  }
}

/** Takes a free permit into use. */
function startAttempt(permits: WebhookPermits): string {
  const permit = permits.free.shift() as string;
  const held = permits.held.get(permit);
  if (held) held.attemptSince = performance.now();
  return permit;
}

/**
 * Returns true if the endpoint is slow and one more attempt would wait longer than the patience. A quick endpoint with much
 * to deliver turns no attempt away: then the wait is our own.
 */
function isSaturated(permits: WebhookPermits, webhook: Webhook, quickMs: number): boolean {
  const { waiting, held } = permits;
  if (waiting.length === 0) return false;
  if (webhook.failing_since_ms !== null) return true;
  const oldestMs = performance.now() - (waiting[0]?.since ?? 0);
  const responseMs = expectedResponseMs(permits);
  const waitMs = (responseMs * waiting.length) / Math.max(1, held.size);
  return oldestMs > QUICK_PATIENCE_MS || (responseMs > quickMs && waitMs > PATIENCE_MS);
}

/** How long the endpoint takes, by the responses that arrived and the attempts still in flight. Milliseconds. */
function expectedResponseMs({ held, free, responseMs }: WebhookPermits): number {
  const now = performance.now();
  let ms = responseMs;
  for (const [permit, { attemptSince }] of held) {
    if (!free.includes(permit)) ms = Math.max(ms, now - attemptSince);
  }
  return ms;
}
