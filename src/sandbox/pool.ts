import type { PrivateAddress } from "../egress/private-addresses.ts";
import { Slots, shareOf, type Waiter } from "../fairness/slots.ts";
import type { Bundle } from "./bundle.ts";
import { NextUses } from "./next-uses.ts";
import {
  NEW_PROCESS_BYTES,
  type PoolProcess,
  PoolProcesses,
  type ProcessUse,
  type Slot,
  type StartOptions,
} from "./pool-processes.ts";
import type { Sandbox } from "./sandbox.ts";
import type { WarmRoom } from "./warm-room.ts";

/** A caller that waits for a process; its account is the owner of the key. */
interface PendingAcquire extends Waiter, ProcessUse {
  since: number;
  resolve: (slot: Slot) => void;
  reject: (error: unknown) => void;
}

export interface AcquireOptions {
  /** Processes are shared between owners. By default each key is its own owner. */
  owner?: string | undefined;
  /** Permits that keys of the same owner and bundle use one process, one after the other. */
  isShareable?: boolean | undefined;
  /** What a new process may reach beside public addresses, for its life: calls with other addresses have another key. */
  opened?: readonly PrivateAddress[] | undefined;
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
  open: (bundle: Bundle, start: StartOptions) => Promise<Sandbox>;
}

/**
 * A source with a backlog calls again right after each call. Its process is not ended during so short a pause:
 * otherwise a new process would be started for every event while others wait. After the tenure it can be ended for
 * them.
 */
const PAUSE_MS = 20;
const TENURE_MS = 1000;
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
  readonly #processes: PoolProcesses;
  /** The busy processes of each owner, and who waits for one. */
  readonly #busy: Slots<PendingAcquire>;
  readonly #nextUses = new NextUses();
  #recheckTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: PoolOptions) {
    const { maxProcesses } = options;
    this.#options = options;
    this.#busy = new Slots({ total: maxProcesses, perAccount: shareOf(maxProcesses) });
    this.#maxKeys = options.maxKeysPerProcess ?? 1;
    this.#processes = new PoolProcesses({
      maxKeys: this.#maxKeys,
      open: options.open,
      onGone: process => {
        this.#setIdle(process);
        this.#serveQueue();
      },
    });
  }

  /** Resolves with a process of this key, the warm one if there is one. Waits while no process is available. */
  acquire(
    key: string,
    bundle: Bundle,
    { owner = `key ${key}`, isShareable = false, opened = [], signal }: AcquireOptions = {},
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
        opened,
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
    const process = this.#processes.ofSlot(slot);
    if (!process) return;
    slot.isWarm = true;
    this.#processes.setBytes(process, slot.sandbox.served().ownBytes || process.bytes);
    if (!keep || process.isDiscarded || this.#isClosed) {
      this.#processes.end(process);
      return;
    }
    this.#setIdle(process);
    if (!process.idleTimer) this.#watchIdle(process, this.#options.idleMs);
    if (this.#busy.waiters().length > 0) this.#serveQueue();
    else if (!this.#hasRoom(0)) this.#evictIdle(1);
  }

  /** Ends the processes whose keys start with the prefix; a busy process is ended when it is released. */
  drop(keyPrefix: string): void {
    for (const process of this.#processes.all) {
      if (![...process.keys.keys()].some(key => key.startsWith(keyPrefix))) continue;
      if (process.isBusy) this.#processes.discard(process);
      else this.#processes.end(process);
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
    await this.#processes.close();
  }

  /** `warm` counts all processes, `busy` those that are in use or being ended. */
  stats(): { warm: number; busy: number } {
    const { all } = this.#processes;
    return { warm: all.length, busy: all.filter(process => process.isBusy || process.isEnding).length };
  }

  sandboxes(): { sandbox: Sandbox; isBusy: boolean }[] {
    return this.#processes.started.map(([sandbox, { isBusy }]) => ({ sandbox, isBusy }));
  }

  /** Another caller may have the process, or a new one in its place. */
  #setIdle(process: PoolProcess): void {
    if (!process.isBusy) return;
    process.isBusy = false;
    process.idleSince = performance.now();
    this.#busy.release(process.owner);
  }

  /** False while the key itself is in use, or the owner or all together use as many processes as they can. */
  #isEligible({ key, account }: PendingAcquire): boolean {
    return this.#busy.whatIsFull(account) === null && !this.#processes.isInUse(key);
  }

  /** True if there is memory for so many further processes. */
  #hasRoom(further: number): boolean {
    const { maxProcesses, warm } = this.#options;
    const { count: existing, bytes } = this.#processes;
    const count = existing + further;
    if (count <= maxProcesses) return true;
    return warm !== undefined && count <= warm.processes && bytes + further * NEW_PROCESS_BYTES <= warm.bytes;
  }

  #serveQueue(): void {
    this.#busy.serve();
    const left = this.#busy.waiters();
    const unserved = left.filter(waiter => this.#isEligible(waiter) && !this.#waitsToShare(waiter)).length;
    if (unserved > 0) this.#evictIdle(unserved);
    if (left.some(waiter => this.#waitsToShare(waiter))) this.#recheckSoon();
  }

  #canServe(waiter: PendingAcquire): boolean {
    if (this.#processes.isInUse(waiter.key)) return false;
    return this.#processes.idleFor(waiter) !== undefined || (this.#hasRoom(1) && !this.#waitsToShare(waiter));
  }

  #serve(waiter: PendingAcquire): void {
    this.#nextUses.used(waiter.key, performance.now());
    const process = this.#processes.idleFor(waiter) ?? this.#processes.start(waiter);
    this.#processes.assign(process, waiter).then(waiter.resolve, waiter.reject);
  }

  /** True while the call may yet get a busy process of its group. */
  #waitsToShare({ group, since }: PendingAcquire): boolean {
    return performance.now() - since < SHARE_WAIT_MS && this.#processes.canBeShared(group);
  }

  /**
   * Ends idle processes in favour of `wanted` waiters, unless enough processes are ending already. When one has ended,
   * the queue is served again.
   */
  #evictIdle(wanted: number): void {
    const now = performance.now();
    const { all } = this.#processes;
    const idle = all.filter(process => !process.isBusy && !process.isEnding);
    const countByOwner = new Map<string, number>();
    for (const { owner } of all) countByOwner.set(owner, (countByOwner.get(owner) ?? 0) + 1);
    // The owner with the most processes loses one first, so that many sources of one user do not make the sources of
    // another start cold. Of its processes, the one that will be used last: to end the one that was idle longest would
    // leave timers no warm process, because that one is used next.
    const evictable = idle
      .filter(({ idleSince, startedAt }) => now - idleSince >= PAUSE_MS || now - startedAt >= TENURE_MS)
      .map(process => ({
        process,
        ownerCount: countByOwner.get(process.owner) ?? 0,
        nextUse: this.#nextUse(process, now),
      }))
      .sort((a, b) => b.ownerCount - a.ownerCount || b.nextUse - a.nextUse);
    const missing =
      Math.min(wanted, this.#options.maxProcesses - this.#busy.held) -
      all.filter(({ isEnding }) => isEnding).length;
    for (const { process } of evictable.slice(0, Math.max(0, missing))) this.#processes.end(process);
    if (missing > evictable.length && idle.length > evictable.length) this.#recheckSoon();
  }

  #nextUse({ keys }: PoolProcess, now: number): number {
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
  #watchIdle(process: PoolProcess, afterMs: number): void {
    process.idleTimer = setTimeout(() => {
      process.idleTimer = undefined;
      if (process.isBusy || process.isEnding) return;
      const remainingMs = process.idleSince + this.#options.idleMs - performance.now();
      if (remainingMs <= 0) this.#processes.end(process);
      else this.#watchIdle(process, remainingMs);
    }, afterMs);
    process.idleTimer.unref();
  }
}
