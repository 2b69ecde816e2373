import type { Bundle } from "./bundle.ts";
import { hostError } from "./host-error.ts";
import type { Sandbox } from "./sandbox.ts";
import { type Waiter, WaitQueue } from "./wait-queue.ts";

/** A process that a caller has acquired. */
export interface Slot {
  key: string;
  sandbox: Sandbox;
  /** False when the process is acquired for the first time, true from its first release on. */
  isWarm: boolean;
}

/** A process of the pool, from before it starts until it has ended. */
interface Entry {
  key: string;
  owner: string;
  slot: Promise<Slot> | undefined;
  isBusy: boolean;
  /** It is ended as soon as it is idle. */
  isDiscarded: boolean;
  /** It has been killed but still counts, because it may not have ended yet. */
  isEnding: boolean;
  startedAt: number;
  idleSince: number;
  idleTimer: NodeJS.Timeout | undefined;
}

interface PendingAcquire extends Waiter {
  bundle: Bundle;
  resolve: (slot: Slot) => void;
  reject: (error: unknown) => void;
}

export interface AcquireOptions {
  /** Processes are shared between owners. By default each key is its own owner. */
  owner?: string | undefined;
  /** Ends the wait; `acquire` then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

export interface PoolOptions {
  maxProcesses: number;
  /** An idle process is ended after this many milliseconds. */
  idleMs: number;
  open: (bundle: Bundle) => Promise<Sandbox>;
}

const SHUT_DOWN = hostError("Cancelled", "The sandbox was shut down");
/** The share of all processes that one owner can use at a time, so that the other owners find one at once. */
const OWNER_SHARE = 0.75;
/**
 * A source with a backlog calls again right after each call. Its process is not ended during so short a pause:
 * otherwise a new process would be started for every event while others wait. After the tenure it can be ended for
 * them.
 */
const PAUSE_MS = 20;
const TENURE_MS = 1000;

/**
 * The processes of a host. Each has one key and stays warm for it. If all are busy, callers wait: the next free process
 * goes to the owner that uses the fewest, and among the calls of an owner to the first. No owner can use all of them.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #ownerMax: number;
  readonly #entries = new Set<Entry>();
  readonly #byKey = new Map<string, Entry>();
  readonly #bySlot = new Map<Slot, Entry>();
  /** How many busy processes each owner has. */
  readonly #busy = new Map<string, number>();
  readonly #queue = new WaitQueue<PendingAcquire>();
  #recheckTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: PoolOptions) {
    const { maxProcesses } = options;
    this.#options = options;
    this.#ownerMax = Math.max(1, Math.min(Math.ceil(maxProcesses * OWNER_SHARE), maxProcesses - 1));
  }

  /** Resolves with a process of this key, the warm one if there is one. Waits while no process is available. */
  acquire(key: string, bundle: Bundle, { owner = `key ${key}`, signal }: AcquireOptions = {}): Promise<Slot> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw new Error("the sandboxes are closed");
      signal?.throwIfAborted();
      const onAbort = () => {
        if (this.#queue.remove(waiter)) reject(signal?.reason);
      };
      const waiter: PendingAcquire = {
        key,
        owner,
        bundle,
        resolve(slot) {
          signal?.removeEventListener("abort", onAbort);
          resolve(slot);
        },
        reject,
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#queue.add(waiter);
      this.#serveQueue();
    });
  }

  /** Returns a process to the pool. If `keep` is false, the process is ended. */
  release(slot: Slot, keep: boolean): void {
    const entry = this.#bySlot.get(slot);
    if (!entry) return;
    slot.isWarm = true;
    if (!keep || entry.isDiscarded || this.#isClosed) {
      this.#end(entry);
      return;
    }
    this.#setBusy(entry, false);
    entry.idleSince = performance.now();
    if (!entry.idleTimer) this.#watchIdle(entry, this.#options.idleMs);
    if (this.#queue.size > 0) this.#serveQueue();
  }

  /** Ends the processes whose keys start with the prefix; a busy process is ended when it is released. */
  drop(keyPrefix: string): void {
    for (const entry of this.#entries) {
      if (!entry.key.startsWith(keyPrefix)) continue;
      entry.isDiscarded = true;
      this.#removeKey(entry);
      if (!entry.isBusy) this.#end(entry);
    }
  }

  /** Ends all processes. Pending calls of `acquire` reject. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#recheckTimer);
    for (const waiter of this.#queue.clear()) waiter.reject(new Error("the sandboxes are closed"));
    const gone = [...this.#bySlot.keys()].map(slot => slot.sandbox.gone);
    for (const entry of this.#entries) this.#end(entry);
    const starting = [...this.#entries].map(entry =>
      entry.slot?.then(
        slot => slot.sandbox.gone,
        () => undefined,
      ),
    );
    await Promise.all([...gone, ...starting]);
  }

  /** `warm` counts all processes, `busy` those that are in use or being ended. */
  stats(): { warm: number; busy: number } {
    const entries = [...this.#entries];
    return { warm: entries.length, busy: entries.filter(entry => entry.isBusy || entry.isEnding).length };
  }

  sandboxes(): { sandbox: Sandbox; isBusy: boolean }[] {
    return [...this.#bySlot].map(([slot, { isBusy }]) => ({ sandbox: slot.sandbox, isBusy }));
  }

  #busyOf(owner: string): number {
    return this.#busy.get(owner) ?? 0;
  }

  #setBusy(entry: Entry, isBusy: boolean): void {
    if (entry.isBusy === isBusy) return;
    entry.isBusy = isBusy;
    const count = this.#busyOf(entry.owner) + (isBusy ? 1 : -1);
    if (count > 0) this.#busy.set(entry.owner, count);
    else this.#busy.delete(entry.owner);
  }

  #removeKey(entry: Entry): void {
    if (this.#byKey.get(entry.key) === entry) this.#byKey.delete(entry.key);
  }

  #end(entry: Entry): void {
    clearTimeout(entry.idleTimer);
    entry.isDiscarded = true;
    entry.isEnding = true;
    this.#removeKey(entry);
    for (const [slot, ofSlot] of this.#bySlot) if (ofSlot === entry) slot.sandbox.kill(SHUT_DOWN);
  }

  #onGone(entry: Entry): void {
    clearTimeout(entry.idleTimer);
    this.#setBusy(entry, false);
    this.#removeKey(entry);
    this.#entries.delete(entry);
    this.#serveQueue();
  }

  #assign(entry: Entry, waiter: PendingAcquire): void {
    entry.owner = waiter.owner;
    this.#setBusy(entry, true);
    entry.slot?.then(waiter.resolve, waiter.reject);
  }

  #start(waiter: PendingAcquire): void {
    const entry: Entry = {
      key: waiter.key,
      owner: waiter.owner,
      slot: undefined,
      isBusy: false,
      isDiscarded: false,
      isEnding: false,
      startedAt: performance.now(),
      idleSince: 0,
      idleTimer: undefined,
    };
    this.#entries.add(entry);
    this.#byKey.set(entry.key, entry);
    entry.slot = this.#options.open(waiter.bundle).then(sandbox => {
      const slot = { key: waiter.key, sandbox, isWarm: false };
      this.#bySlot.set(slot, entry);
      void sandbox.gone.then(() => {
        this.#bySlot.delete(slot);
        this.#onGone(entry);
      });
      if (this.#isClosed) sandbox.kill(SHUT_DOWN);
      return slot;
    });
    entry.slot.catch(() => this.#onGone(entry));
    this.#assign(entry, waiter);
  }

  /** False while the key's own process is busy, or the owner uses as many processes as it can. */
  #isEligible({ key, owner }: Waiter): boolean {
    return !this.#byKey.get(key)?.isBusy && this.#busyOf(owner) < this.#ownerMax;
  }

  /** True if the key has a process, or one can be started. */
  #hasCapacity({ key }: Waiter): boolean {
    return this.#byKey.has(key) || this.#entries.size < this.#options.maxProcesses;
  }

  #serveQueue(): void {
    const canServe = (waiter: Waiter) => this.#hasCapacity(waiter) && this.#isEligible(waiter);
    for (;;) {
      const waiter = this.#queue.next(canServe, owner => this.#busyOf(owner));
      if (!waiter) break;
      this.#queue.remove(waiter);
      const entry = this.#byKey.get(waiter.key);
      if (entry) this.#assign(entry, waiter);
      else this.#start(waiter);
    }
    const unserved = this.#queue.count(waiter => this.#isEligible(waiter));
    if (unserved > 0) this.#evictIdle(unserved);
  }

  /**
   * Ends idle processes in favour of `wanted` waiters, unless enough processes are ending already. When one has ended,
   * the queue is served again.
   */
  #evictIdle(wanted: number): void {
    const now = performance.now();
    const entries = [...this.#entries];
    const idle = entries.filter(entry => !entry.isBusy && !entry.isEnding);
    const countByOwner = new Map<string, number>();
    for (const { owner } of entries) countByOwner.set(owner, (countByOwner.get(owner) ?? 0) + 1);
    const ownerCount = (entry: Entry) => countByOwner.get(entry.owner) ?? 0;
    // The owner with the most processes loses one first, so that many sources of one user do not make the sources of
    // another start cold.
    const evictable = idle
      .filter(entry => now - entry.idleSince >= PAUSE_MS || now - entry.startedAt >= TENURE_MS)
      .sort((a, b) => ownerCount(b) - ownerCount(a) || a.idleSince - b.idleSince);
    const missing = wanted - entries.filter(entry => entry.isEnding).length;
    for (const entry of evictable.slice(0, Math.max(0, missing))) this.#end(entry);
    if (missing <= evictable.length || idle.length === evictable.length || this.#recheckTimer) return;
    this.#recheckTimer = setTimeout(() => {
      this.#recheckTimer = undefined;
      this.#serveQueue();
    }, PAUSE_MS);
  }

  /**
   * Ends the process when it has been idle for long enough. It uses one timer, which is set again only when it fires,
   * because a process is released far more often than that.
   */
  #watchIdle(entry: Entry, afterMs: number): void {
    entry.idleTimer = setTimeout(() => {
      entry.idleTimer = undefined;
      if (entry.isBusy || entry.isEnding) return;
      const remainingMs = entry.idleSince + this.#options.idleMs - performance.now();
      if (remainingMs <= 0) this.#end(entry);
      else this.#watchIdle(entry, remainingMs);
    }, afterMs);
    entry.idleTimer.unref();
  }
}
