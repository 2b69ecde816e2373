import { Slots, shareOf, type Waiter } from "../fairness/slots.ts";
import type { Bundle } from "./bundle.ts";
import { NextUses } from "./next-uses.ts";
import { hostError } from "./protocol.ts";
import type { Sandbox } from "./sandbox.ts";
import type { WarmRoom } from "./warm-room.ts";

/** A process that a caller has acquired. */
export interface Slot {
  key: string;
  sandbox: Sandbox;
  /** Number of the key's source in the process; 0 unless several keys share it. */
  source: number;
  /** False when the process is acquired for the first time, true from its first release on. */
  isWarm: boolean;
}

/** A process of the pool, from before it starts until it has ended. */
interface Entry {
  /** One for each key that it has served, in the order of their numbers; more than one only if it is shared. */
  keys: Map<string, Promise<Slot>>;
  /** Whose keys may share it; undefined if it serves one key only. */
  group: string | undefined;
  owner: string;
  sandbox: Promise<Sandbox>;
  /** The memory that only this process has; an estimate until its first call has ended. */
  bytes: number;
  isBusy: boolean;
  /** The key of the call under way, or of the last one. */
  usedBy: string;
  /** It is ended as soon as it is idle. */
  isDiscarded: boolean;
  /** It has been killed but still counts, because it may not have ended yet. */
  isEnding: boolean;
  startedAt: number;
  idleSince: number;
  idleTimer: NodeJS.Timeout | undefined;
}

/** A caller that waits for a process; its account is the owner of the key. */
interface PendingAcquire extends Waiter {
  key: string;
  bundle: Bundle;
  group: string | undefined;
  since: number;
  resolve: (slot: Slot) => void;
  reject: (error: unknown) => void;
}

export interface AcquireOptions {
  /** Processes are shared between owners. By default each key is its own owner. */
  owner?: string | undefined;
  /** Permits that keys of the same owner and bundle use one process, one after the other. */
  isShareable?: boolean | undefined;
  /** Ends the wait; `acquire` then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

export interface PoolOptions {
  /** Most processes that are in use at a time; so many may also exist whatever their memory. */
  maxProcesses: number;
  /** Further processes stay warm while the memory of all together is below `bytes`, and their number below `processes`. */
  warm?: WarmRoom;
  /** Most keys that share a process. */
  maxKeysPerProcess?: number;
  /** An idle process is ended after this many milliseconds. */
  idleMs: number;
  open: (bundle: Bundle, isShared: boolean) => Promise<Sandbox>;
}

const SHUT_DOWN = hostError("Cancelled", "The sandbox was shut down");
/**
 * A source with a backlog calls again right after each call. Its process is not ended during so short a pause:
 * otherwise a new process would be started for every event while others wait. After the tenure it can be ended for
 * them.
 */
const PAUSE_MS = 20;
const TENURE_MS = 1000;
/** What a process of a small component takes of its own, as measured. */
const NEW_PROCESS_BYTES = 20 * 1024 * 1024;
/** A shared process takes no further key from here on, so that what its keys keep does not add up to its limit. */
const SHARED_BYTES = 80 * 1024 * 1024;
/**
 * For so long a call waits for a busy process that it may share before another one is started: most calls are shorter, and
 * a start costs as much as a hundred of them.
 */
const SHARE_WAIT_MS = 200;

/**
 * The processes of a host. Each has one key and stays warm for it; keys of one owner and bundle may share processes. As many
 * stay warm as memory permits. If as many as permitted are busy, callers wait: the next free one goes to the owner that uses
 * the fewest, and among the calls of an owner to the first. No owner can use all of them.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #maxKeys: number;
  readonly #entries = new Set<Entry>();
  /** The process that served a key last. */
  readonly #byKey = new Map<string, Entry>();
  readonly #byGroup = new Map<string, Set<Entry>>();
  readonly #bySlot = new WeakMap<Slot, Entry>();
  /** The processes that have started and not ended. */
  readonly #opened = new Map<Sandbox, Entry>();
  /** The busy processes of each owner, and who waits for one. */
  readonly #busy: Slots<PendingAcquire>;
  /** The memory of all processes, those that are ending included. */
  #bytes = 0;
  readonly #nextUses = new NextUses();
  #recheckTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: PoolOptions) {
    const { maxProcesses } = options;
    this.#options = options;
    this.#busy = new Slots({ total: maxProcesses, perAccount: shareOf(maxProcesses) });
    this.#maxKeys = options.maxKeysPerProcess ?? 1;
  }

  /** Resolves with a process of this key, the warm one if there is one. Waits while no process is available. */
  acquire(
    key: string,
    bundle: Bundle,
    { owner = `key ${key}`, isShareable = false, signal }: AcquireOptions = {},
  ): Promise<Slot> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw new Error("the sandboxes are closed");
      signal?.throwIfAborted();
      const onAbort = () => {
        if (this.#busy.leave(waiter)) reject(signal?.reason);
      };
      const waiter: PendingAcquire = {
        key,
        account: owner,
        bundle,
        group: isShareable && this.#maxKeys > 1 ? `${owner} ${bundle.hash}` : undefined,
        since: performance.now(),
        mayStart: () => this.#canServe(waiter),
        start: () => this.#serve(waiter),
        resolve(slot) {
          signal?.removeEventListener("abort", onAbort);
          resolve(slot);
        },
        reject,
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#busy.wait(waiter);
      this.#serveQueue();
    });
  }

  /** Returns a process to the pool. If `keep` is false, the process is ended. */
  release(slot: Slot, keep: boolean): void {
    const entry = this.#bySlot.get(slot);
    if (!entry) return;
    slot.isWarm = true;
    this.#setBytes(entry, slot.sandbox.served().ownBytes || entry.bytes);
    if (!keep || entry.isDiscarded || this.#isClosed) {
      this.#end(entry);
      return;
    }
    this.#setIdle(entry);
    if (!entry.idleTimer) this.#watchIdle(entry, this.#options.idleMs);
    if (this.#busy.waiters().length > 0) this.#serveQueue();
    else if (!this.#hasRoom(0)) this.#evictIdle(1);
  }

  /** Ends the processes whose keys start with the prefix; a busy process is ended when it is released. */
  drop(keyPrefix: string): void {
    for (const entry of this.#entries) {
      if (![...entry.keys.keys()].some(key => key.startsWith(keyPrefix))) continue;
      entry.isDiscarded = true;
      this.#removeKeys(entry);
      if (!entry.isBusy) this.#end(entry);
    }
  }

  /** Ends all processes. Pending calls of `acquire` reject. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#recheckTimer);
    for (const waiter of this.#busy.waiters()) {
      this.#busy.leave(waiter);
      waiter.reject(new Error("the sandboxes are closed"));
    }
    for (const entry of this.#entries) this.#end(entry);
    const starting = [...this.#entries].map(entry =>
      entry.sandbox.then(
        sandbox => sandbox.gone,
        () => undefined,
      ),
    );
    await Promise.all(starting);
  }

  /** `warm` counts all processes, `busy` those that are in use or being ended. */
  stats(): { warm: number; busy: number } {
    const entries = [...this.#entries];
    return { warm: entries.length, busy: entries.filter(entry => entry.isBusy || entry.isEnding).length };
  }

  sandboxes(): { sandbox: Sandbox; isBusy: boolean }[] {
    return [...this.#opened].map(([sandbox, { isBusy }]) => ({ sandbox, isBusy }));
  }

  /** Another caller may have the process, or a new one in its place. */
  #setIdle(entry: Entry): void {
    if (!entry.isBusy) return;
    entry.isBusy = false;
    entry.idleSince = performance.now();
    this.#busy.release(entry.owner);
  }

  #setBytes(entry: Entry, bytes: number): void {
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
  }

  /** No call is given to the process any longer. */
  #removeKeys(entry: Entry): void {
    for (const key of entry.keys.keys()) if (this.#byKey.get(key) === entry) this.#byKey.delete(key);
    if (entry.group === undefined) return;
    const group = this.#byGroup.get(entry.group);
    group?.delete(entry);
    if (group?.size === 0) this.#byGroup.delete(entry.group);
  }

  #end(entry: Entry): void {
    clearTimeout(entry.idleTimer);
    entry.isDiscarded = true;
    entry.isEnding = true;
    this.#removeKeys(entry);
    for (const [sandbox, opened] of this.#opened) if (opened === entry) sandbox.kill(SHUT_DOWN);
  }

  #onGone(entry: Entry): void {
    clearTimeout(entry.idleTimer);
    this.#setBytes(entry, 0);
    this.#removeKeys(entry);
    this.#entries.delete(entry);
    this.#setIdle(entry);
    this.#serveQueue();
  }

  #assign(entry: Entry, waiter: PendingAcquire): void {
    const { key, account } = waiter;
    this.#nextUses.used(key, performance.now());
    entry.owner = account;
    entry.usedBy = key;
    entry.isBusy = true;
    this.#byKey.set(key, entry);
    const known = entry.keys.get(key);
    const source = entry.keys.size;
    const slot =
      known ??
      entry.sandbox.then(sandbox => {
        // A process that a key joins later has served others by then.
        const opened: Slot = { key, sandbox, source, isWarm: source > 0 };
        this.#bySlot.set(opened, entry);
        return opened;
      });
    entry.keys.set(key, slot);
    slot.then(waiter.resolve, waiter.reject);
  }

  #start(waiter: PendingAcquire): void {
    const { group } = waiter;
    const entry: Entry = {
      keys: new Map(),
      group,
      owner: waiter.account,
      sandbox: this.#options.open(waiter.bundle, group !== undefined),
      bytes: 0,
      isBusy: false,
      usedBy: waiter.key,
      isDiscarded: false,
      isEnding: false,
      startedAt: performance.now(),
      idleSince: 0,
      idleTimer: undefined,
    };
    this.#entries.add(entry);
    this.#setBytes(entry, NEW_PROCESS_BYTES);
    if (group !== undefined) {
      const entries = this.#byGroup.get(group) ?? new Set();
      this.#byGroup.set(group, entries.add(entry));
    }
    entry.sandbox.then(
      sandbox => {
        this.#opened.set(sandbox, entry);
        void sandbox.gone.then(() => {
          this.#opened.delete(sandbox);
          this.#onGone(entry);
        });
        if (this.#isClosed) sandbox.kill(SHUT_DOWN);
      },
      () => this.#onGone(entry),
    );
    this.#assign(entry, waiter);
  }

  /** False while the key itself is in use, or the owner or all together use as many processes as they can. */
  #isEligible({ key, account }: PendingAcquire): boolean {
    return this.#busy.whatIsFull(account) === null && !this.#isInUse(key);
  }

  /** Calls of one key must not overlap: they are of one source, and see its db one after the other. */
  #isInUse(key: string): boolean {
    const entry = this.#byKey.get(key);
    return entry?.isBusy === true && entry.usedBy === key;
  }

  /** Returns the idle process that is best for the call: the one that served the key last, or another one of its group. */
  #idleFor({ key, group }: PendingAcquire): Entry | undefined {
    const own = this.#byKey.get(key);
    if (own && !own.isBusy) return own;
    if (group === undefined) return undefined;
    const idle = [...(this.#byGroup.get(group) ?? [])].filter(entry => !entry.isBusy && !entry.isEnding);
    const hasKey = idle.find(entry => entry.keys.has(key));
    if (hasKey) return hasKey;
    return idle
      .filter(entry => this.#takesKeys(entry))
      .reduce<Entry | undefined>(
        (best, entry) => (best && best.keys.size <= entry.keys.size ? best : entry),
        undefined,
      );
  }

  /** True if there is memory for so many further processes. */
  #hasRoom(further: number): boolean {
    const { maxProcesses, warm } = this.#options;
    const count = this.#entries.size + further;
    if (count <= maxProcesses) return true;
    return (
      warm !== undefined && count <= warm.processes && this.#bytes + further * NEW_PROCESS_BYTES <= warm.bytes
    );
  }

  #serveQueue(): void {
    this.#busy.serve();
    const left = this.#busy.waiters();
    const unserved = left.filter(waiter => this.#isEligible(waiter) && !this.#waitsToShare(waiter)).length;
    if (unserved > 0) this.#evictIdle(unserved);
    if (left.some(waiter => this.#waitsToShare(waiter))) this.#recheckSoon();
  }

  #canServe(waiter: PendingAcquire): boolean {
    if (this.#isInUse(waiter.key)) return false;
    return this.#idleFor(waiter) !== undefined || (this.#hasRoom(1) && !this.#waitsToShare(waiter));
  }

  #serve(waiter: PendingAcquire): void {
    const entry = this.#idleFor(waiter);
    if (entry) this.#assign(entry, waiter);
    else this.#start(waiter);
  }

  /** True while the call may yet get a busy process of its group. */
  #waitsToShare({ group, since }: PendingAcquire): boolean {
    if (group === undefined || performance.now() - since >= SHARE_WAIT_MS) return false;
    return [...(this.#byGroup.get(group) ?? [])].some(
      entry => entry.isBusy && !entry.isEnding && this.#takesKeys(entry),
    );
  }

  #takesKeys({ keys, bytes }: Entry): boolean {
    return keys.size < this.#maxKeys && bytes < SHARED_BYTES;
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
    // The owner with the most processes loses one first, so that many sources of one user do not make the sources of
    // another start cold. Of its processes, the one that will be used last: to end the one that was idle longest would
    // leave timers no warm process, because that one is used next.
    const evictable = idle
      .filter(entry => now - entry.idleSince >= PAUSE_MS || now - entry.startedAt >= TENURE_MS)
      .map(entry => ({
        entry,
        ownerCount: countByOwner.get(entry.owner) ?? 0,
        nextUse: this.#nextUse(entry, now),
      }))
      .sort((a, b) => b.ownerCount - a.ownerCount || b.nextUse - a.nextUse);
    const missing =
      Math.min(wanted, this.#options.maxProcesses - this.#busy.held) -
      entries.filter(entry => entry.isEnding).length;
    for (const { entry } of evictable.slice(0, Math.max(0, missing))) this.#end(entry);
    if (missing > evictable.length && idle.length > evictable.length) this.#recheckSoon();
  }

  #nextUse({ keys }: Entry, now: number): number {
    return Math.min(...[...keys.keys()].map(key => this.#nextUses.expectedAt(key, now)));
  }

  #recheckSoon(): void {
    if (this.#isClosed) return;
    this.#recheckTimer ??= setTimeout(() => {
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
