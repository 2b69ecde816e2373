import type { Bundle } from "./bundle.ts";
import type { Sandbox } from "./sandbox.ts";
import { ended } from "./spawn.ts";
import { type Claim, createWaitingLine } from "./waiting-line.ts";

/** A place for one process. It is taken from before the process starts until it is gone. */
export interface Slot {
  key: string;
  sandbox: Sandbox;
  /** False for the first loan, true when the process has served before. */
  isWarm: boolean;
}

interface Entry {
  key: string;
  owner: string;
  slot: Promise<Slot> | undefined;
  isBusy: boolean;
  /** To be ended as soon as it is idle. */
  isDoomed: boolean;
  /** Killed, and its place not free yet. */
  isEnding: boolean;
  startedAt: number;
  idleSince: number;
  idleTimer: NodeJS.Timeout | undefined;
}

interface Waiter extends Claim {
  bundle: Bundle;
  give: (slot: Slot) => void;
  fail: (error: unknown) => void;
}

export interface AcquireOptions {
  /** Whose it is; places are shared out between owners. Each key is its own owner where none is given. */
  owner?: string | undefined;
  /** Leaves the line. */
  signal?: AbortSignal | undefined;
}

export interface Pool {
  /** A process of this key, warm if there is one; waits in line while all are busy. */
  acquire(key: string, bundle: Bundle, options?: AcquireOptions): Promise<Slot>;
  /** Gives it back; `keep` false ends it. */
  release(slot: Slot, keep: boolean): void;
  drop(keyPrefix: string): void;
  close(): Promise<void>;
  stats(): { warm: number; busy: number };
  sandboxes(): { sandbox: Sandbox; isBusy: boolean }[];
}

export interface PoolOptions {
  maxProcesses: number;
  idleMs: number;
  open: (bundle: Bundle) => Promise<Sandbox>;
}

const DISCARDED = ended("Cancelled", "The sandbox is no longer needed");
/** Of all places, for one owner at a time; the others find one at once, however many sources that owner has. */
const OWNER_SHARE = 0.75;
/**
 * A source with a backlog asks again right after each call. Its process is not ended in such a pause, or it would start
 * anew for every event while others wait; but after its tenure it makes place for them.
 */
const PAUSE_MS = 20;
const TENURE_MS = 1000;

/**
 * Permits are given to the owner who holds the fewest at the moment, and among its calls in order. One owner never
 * holds all of them.
 */
export function createPool(options: PoolOptions): Pool {
  const { maxProcesses } = options;
  const ownerMax = Math.max(1, Math.min(Math.ceil(maxProcesses * OWNER_SHARE), maxProcesses - 1));
  const entries = new Set<Entry>();
  const byKey = new Map<string, Entry>();
  const known = new Map<Slot, Entry>();
  const busy = new Map<string, number>();
  const line = createWaitingLine<Waiter>();
  let recheck: NodeJS.Timeout | undefined;
  let isClosed = false;

  const busyOf = (owner: string) => busy.get(owner) ?? 0;

  function setBusy(entry: Entry, isBusy: boolean): void {
    if (entry.isBusy === isBusy) return;
    entry.isBusy = isBusy;
    const count = busyOf(entry.owner) + (isBusy ? 1 : -1);
    if (count > 0) busy.set(entry.owner, count);
    else busy.delete(entry.owner);
  }

  function end(entry: Entry): void {
    clearTimeout(entry.idleTimer);
    entry.isDoomed = true;
    entry.isEnding = true;
    forgetKey(entry);
    for (const [slot, of] of known) if (of === entry) slot.sandbox.kill(DISCARDED);
  }

  function forgetKey(entry: Entry): void {
    if (byKey.get(entry.key) === entry) byKey.delete(entry.key);
  }

  function lend(entry: Entry, waiter: Waiter): void {
    entry.owner = waiter.owner;
    setBusy(entry, true);
    entry.slot?.then(waiter.give, waiter.fail);
  }

  function start(waiter: Waiter): void {
    const entry: Entry = {
      key: waiter.key,
      owner: waiter.owner,
      slot: undefined,
      isBusy: false,
      isDoomed: false,
      isEnding: false,
      startedAt: performance.now(),
      idleSince: 0,
      idleTimer: undefined,
    };
    entries.add(entry);
    byKey.set(entry.key, entry);
    const leave = () => {
      clearTimeout(entry.idleTimer);
      setBusy(entry, false);
      forgetKey(entry);
      entries.delete(entry);
      pump();
    };
    entry.slot = options.open(waiter.bundle).then(sandbox => {
      const slot = { key: waiter.key, sandbox, isWarm: false };
      known.set(slot, entry);
      void sandbox.gone.then(() => {
        known.delete(slot);
        leave();
      });
      if (isClosed) sandbox.kill(DISCARDED);
      return slot;
    });
    entry.slot.catch(leave);
    lend(entry, waiter);
  }

  /** Nobody waits for its own process, nor for what its owner has too much of. */
  const isTurn = ({ key, owner }: Claim) => !byKey.get(key)?.isBusy && busyOf(owner) < ownerMax;
  const isRoom = ({ key }: Claim) => byKey.has(key) || entries.size < maxProcesses;

  function pump(): void {
    for (;;) {
      const waiter = line.next(claim => isRoom(claim) && isTurn(claim), busyOf);
      if (!waiter) break;
      line.leave(waiter);
      const own = byKey.get(waiter.key);
      if (own) lend(own, waiter);
      else start(waiter);
    }
    const unserved = line.count(isTurn);
    if (unserved > 0) makeRoom(unserved);
  }

  /** Ends idle processes for those in line, unless enough are on their way out; when one is gone `pump` comes again. */
  function makeRoom(wanted: number): void {
    const now = performance.now();
    const all = [...entries];
    const idle = all.filter(entry => !entry.isBusy && !entry.isEnding);
    const owned = new Map<string, number>();
    for (const { owner } of all) owned.set(owner, (owned.get(owner) ?? 0) + 1);
    const most = (entry: Entry) => owned.get(entry.owner) ?? 0;
    // Whoever has the most pays, so that a user with many sources cools down its own and not its neighbours'.
    const victims = idle
      .filter(entry => now - entry.idleSince >= PAUSE_MS || now - entry.startedAt >= TENURE_MS)
      .sort((a, b) => most(b) - most(a) || a.idleSince - b.idleSince);
    const missing = wanted - all.filter(entry => entry.isEnding).length;
    for (const victim of victims.slice(0, Math.max(0, missing))) end(victim);
    if (missing <= victims.length || idle.length === victims.length || recheck) return;
    recheck = setTimeout(() => {
      recheck = undefined;
      pump();
    }, PAUSE_MS);
  }

  /** One timer for the life of a process, set again only when it fires: calls come a thousand times as often. */
  function watchIdle(entry: Entry, afterMs: number): void {
    entry.idleTimer = setTimeout(() => {
      entry.idleTimer = undefined;
      if (entry.isBusy || entry.isEnding) return;
      const left = entry.idleSince + options.idleMs - performance.now();
      if (left <= 0) end(entry);
      else watchIdle(entry, left);
    }, afterMs);
    entry.idleTimer.unref();
  }

  return {
    acquire(key, bundle, { owner = `key ${key}`, signal } = {}) {
      return new Promise((give, fail) => {
        if (isClosed) throw new Error("the sandboxes are closed");
        signal?.throwIfAborted();
        const onAbort = () => {
          if (line.leave(waiter)) fail(signal?.reason);
        };
        const waiter: Waiter = {
          key,
          owner,
          bundle,
          give(slot) {
            signal?.removeEventListener("abort", onAbort);
            give(slot);
          },
          fail,
        };
        signal?.addEventListener("abort", onAbort, { once: true });
        line.enter(waiter);
        pump();
      });
    },
    release(slot, keep) {
      const entry = known.get(slot);
      if (!entry) return;
      slot.isWarm = true;
      if (!keep || entry.isDoomed || isClosed) {
        end(entry);
        return;
      }
      setBusy(entry, false);
      entry.idleSince = performance.now();
      if (!entry.idleTimer) watchIdle(entry, options.idleMs);
      if (line.size() > 0) pump();
    },
    drop(keyPrefix) {
      for (const entry of entries) {
        if (!entry.key.startsWith(keyPrefix)) continue;
        entry.isDoomed = true;
        forgetKey(entry);
        if (!entry.isBusy) end(entry);
      }
    },
    async close() {
      isClosed = true;
      clearTimeout(recheck);
      for (const waiter of line.clear()) waiter.fail(new Error("the sandboxes are closed"));
      const gone = [...known.keys()].map(slot => slot.sandbox.gone);
      for (const entry of entries) end(entry);
      await Promise.all([...gone, ...[...entries].map(entry => entry.slot?.then(slot => slot.sandbox.gone))]);
    },
    stats() {
      const all = [...entries];
      return { warm: all.length, busy: all.filter(entry => entry.isBusy || entry.isEnding).length };
    },
    sandboxes: () => [...known].map(([slot, { isBusy }]) => ({ sandbox: slot.sandbox, isBusy })),
  };
}
