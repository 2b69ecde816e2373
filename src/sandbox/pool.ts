import type { Bundle } from "./bundle.ts";
import type { Sandbox } from "./sandbox.ts";
import { ended } from "./spawn.ts";

/** A place for one process. It is taken from before the process starts until it is gone. */
export interface Slot {
  key: string;
  sandbox: Sandbox;
  /** False for the first loan, true when the process has served before. */
  isWarm: boolean;
}

interface Entry {
  key: string;
  slot: Promise<Slot> | undefined;
  isBusy: boolean;
  /** To be ended as soon as it is idle. */
  isDoomed: boolean;
  idleSince: number;
  idleTimer: NodeJS.Timeout | undefined;
}

interface Waiter {
  key: string;
  bundle: Bundle;
  give: (slot: Slot) => void;
  fail: (error: unknown) => void;
}

export interface Pool {
  /** A process of this key, warm if there is one; waits in line while all are busy. `signal` leaves the line. */
  acquire(key: string, bundle: Bundle, signal?: AbortSignal): Promise<Slot>;
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

export function createPool(options: PoolOptions): Pool {
  const entries = new Set<Entry>();
  const known = new Map<Slot, Entry>();
  const waiting: Waiter[] = [];
  let isClosed = false;

  function end(entry: Entry): void {
    clearTimeout(entry.idleTimer);
    entry.isBusy = true;
    entry.isDoomed = true;
    for (const [slot, owner] of known) if (owner === entry) slot.sandbox.kill(DISCARDED);
  }

  function lend(entry: Entry, waiter: Waiter): void {
    entry.isBusy = true;
    clearTimeout(entry.idleTimer);
    entry.slot?.then(waiter.give, waiter.fail);
  }

  function start(waiter: Waiter): void {
    const entry: Entry = {
      key: waiter.key,
      slot: undefined,
      isBusy: true,
      isDoomed: false,
      idleSince: 0,
      idleTimer: undefined,
    };
    entries.add(entry);
    const leave = () => {
      clearTimeout(entry.idleTimer);
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

  /** Serves those in line, in order; one whose own process is busy lets the others pass. */
  function pump(): void {
    for (const waiter of [...waiting]) {
      const own = [...entries].find(entry => entry.key === waiter.key && !entry.isDoomed);
      if (own?.isBusy) continue;
      const isRoom = own !== undefined || entries.size < options.maxProcesses;
      if (!isRoom) {
        const idle = [...entries].filter(entry => !entry.isBusy).sort((a, b) => a.idleSince - b.idleSince)[0];
        // Its place is free when it is gone; then `pump` comes again.
        if (idle) end(idle);
        return;
      }
      waiting.splice(waiting.indexOf(waiter), 1);
      if (own) lend(own, waiter);
      else start(waiter);
    }
  }

  return {
    acquire(key, bundle, signal) {
      return new Promise((give, fail) => {
        if (isClosed) throw new Error("the sandboxes are closed");
        signal?.throwIfAborted();
        const waiter: Waiter = { key, bundle, give, fail };
        const onAbort = () => {
          const at = waiting.indexOf(waiter);
          if (at < 0) return;
          waiting.splice(at, 1);
          fail(signal?.reason);
        };
        signal?.addEventListener("abort", onAbort, { once: true });
        waiting.push(waiter);
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
      entry.isBusy = false;
      entry.idleSince = performance.now();
      entry.idleTimer = setTimeout(() => end(entry), options.idleMs);
      entry.idleTimer.unref();
      pump();
    },
    drop(keyPrefix) {
      for (const entry of entries) {
        if (!entry.key.startsWith(keyPrefix)) continue;
        if (entry.isBusy) entry.isDoomed = true;
        else end(entry);
      }
    },
    async close() {
      isClosed = true;
      for (const waiter of waiting.splice(0)) waiter.fail(new Error("the sandboxes are closed"));
      const gone = [...known.keys()].map(slot => slot.sandbox.gone);
      for (const entry of entries) end(entry);
      await Promise.all([...gone, ...[...entries].map(entry => entry.slot?.then(slot => slot.sandbox.gone))]);
    },
    stats() {
      const all = [...entries];
      return { warm: all.length, busy: all.filter(entry => entry.isBusy).length };
    },
    sandboxes: () => [...known].map(([slot, { isBusy }]) => ({ sandbox: slot.sandbox, isBusy })),
  };
}
