/** How a lock is kept in its store. */
interface LockStore {
  /** The lock expires in the store so long after its last renewal. Milliseconds. */
  ttlMs: number;
  /** The moment before it was acquired, by `performance.now()`. */
  askedAt: number;
  /**
   * Renews it; returns false if another holder has it. `isLate` says whether it has expired since: a command that
   * waited for its store may have acquired it once more.
   */
  renew: (isLate: () => boolean) => Promise<boolean>;
  release: () => Promise<unknown>;
  /** What `lost` is aborted with when it is lost. */
  lostReason?: Error;
}

/** A lock that is renewed for as long as it is held. */
export class HeldLock {
  readonly #store: LockStore;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #renewedAt: number;

  constructor(store: LockStore) {
    this.#store = store;
    this.#renewedAt = store.askedAt;
    this.#timer = setInterval(() => void this.#renew(), Math.floor(store.ttlMs / 3));
  }

  /** Aborted when it is released or lost: another process has it, or it could not be renewed in time. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Gives it to the next process that asks. Never throws: unreleased, it expires. */
  async release(): Promise<void> {
    this.#end();
    await this.#store.release().catch(() => undefined);
  }

  async #renew(): Promise<void> {
    const askedAt = performance.now();
    const isLate = () => performance.now() - this.#renewedAt > this.#store.ttlMs;
    if (isLate()) return this.#end(this.#store.lostReason);
    try {
      if (!(await this.#store.renew(isLate))) return this.#end(this.#store.lostReason);
      this.#renewedAt = askedAt;
    } catch {
      // The next renewal may succeed; if none does in time, it is lost.
    }
  }

  #end(reason?: Error): void {
    clearInterval(this.#timer);
    this.#lost.abort(reason);
  }
}
