import type { Queued, Stores } from "../../platform.ts";
import { enqueueDrain } from "../../queues/enqueue-drain.ts";
import { permitCount, permitLimits, releasePermits, renewPermits, type WebhookLimits } from "./permits.ts";

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
   * on. Returns `permit` or `drain` if it must not begin (src/store/permits.ts). Throws `unavailable`.
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
