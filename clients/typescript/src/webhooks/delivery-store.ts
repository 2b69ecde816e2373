type Maybe<Value> = Value | Promise<Value>;

/** `claimed`: handle it now. `handling`: another request does. `handled`: it was handled. */
export type Claim = "claimed" | "handling" | "handled";

/**
 * Remembers which deliveries were handled, by their `webhook-id`, so that one that comes twice is handled once. Keep one that
 * all processes of a receiver share in a store of yours: `claim` must be atomic (`SET NX` in Redis, a unique index).
 */
export interface DeliveryStore {
  /** Claims a delivery; the claim of a process that died must end by itself. */
  claim(id: string): Maybe<Claim>;
  /** Called after it was handled; remember it for as long as it may come again. */
  markHandled(id: string): Maybe<void>;
  /** Called if handling it failed: the next attempt may claim it. */
  release(id: string): Maybe<void>;
}

/** How much a `MemoryStore` remembers. */
export interface MemoryStoreOptions {
  /** How long a handled delivery is remembered. Default: 5 days, longer than a delivery is retried by itself. */
  rememberMs?: number;
  /** How long a delivery that is being handled is claimed. Default: 10 minutes. */
  claimMs?: number;
  /** Of the deliveries beyond so many, those that came first are forgotten. Default: 100,000. */
  maxIds?: number;
  /** Returns the present time in Unix milliseconds. */
  now?: () => number;
}

interface Entry {
  isHandled: boolean;
  expiresAt: number;
}

/** A store in the memory of one process; a restart forgets it. */
export class MemoryStore implements DeliveryStore {
  readonly #entries = new Map<string, Entry>();
  readonly #options: Required<MemoryStoreOptions>;

  constructor(options: MemoryStoreOptions = {}) {
    const day = 86_400_000;
    this.#options = { rememberMs: 5 * day, claimMs: 600_000, maxIds: 100_000, now: Date.now, ...options };
  }

  claim(id: string): Claim {
    const entry = this.#entries.get(id);
    if (entry && entry.expiresAt > this.#options.now()) return entry.isHandled ? "handled" : "handling";
    this.#put(id, { isHandled: false, expiresAt: this.#options.now() + this.#options.claimMs });
    return "claimed";
  }

  markHandled(id: string): void {
    this.#put(id, { isHandled: true, expiresAt: this.#options.now() + this.#options.rememberMs });
  }

  release(id: string): void {
    this.#entries.delete(id);
  }

  /** The newest is the last of the map, so the first ones are the oldest. */
  #put(id: string, entry: Entry): void {
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    for (const [oldest] of this.#entries) {
      if (this.#entries.size <= this.#options.maxIds) return;
      this.#entries.delete(oldest);
    }
  }
}
