import { setTimeout as delay } from "node:timers/promises";
import { type Thread, thisThread } from "../fairness/thread.ts";
import { Usage } from "../fairness/usage.ts";
import { LIMITS } from "../limits/catalogue.ts";

/** The share of a worker's slots that one account may use at a time, so that another one finds a slot at once. */
const ACCOUNT_SHARE = LIMITS.accountSharePercent.value / 100;
/**
 * The slots that an account may use at a time while time is scarce and it uses more of it than others: then more at once
 * make none of its jobs faster, and each step of another account's job waits for a step of every one of them.
 */
const BUSY_SLOTS = 1;
/** How soon after scarce time it has one more, until it has its full share. Milliseconds. */
const MORE_AFTER_MS = 250;
/**
 * How many times as long as its work a slot then rests, times the pressure on the thread, so that the stores and the
 * processor have time for others. Work is the processor's time of this process.
 */
const REST_FACTOR = 3;
const LONG_MS = 20;
const MAX_REST_MS = 4000;
/** The processor's time that an account's jobs may use in each second in any case. Milliseconds. */
const LEAST_MS_PER_SECOND = 150;

/** A job that waits for its share goes back to its queue after this, give or take half: another process may have a slot. */
const REQUEUE_AFTER_MS = 1000;
/** How soon a job whose turn it is is noticed while everything that was fetched has to wait. */
const LOOK_MS = 10;

interface Waiting {
  account: string;
  /** What its job costs, in the unit of the queue's order. */
  cost: number;
  resolve: (hasSlot: boolean) => void;
  timer: NodeJS.Timeout | undefined;
}

/** The processor's time of this process so far. Milliseconds. */
function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * The slots of one worker process. A job that was fetched from the queue waits here while all slots are in use, or while its
 * account uses its share; a free slot goes to the account that uses the fewest. Nothing here outlives the process: a job
 * that waits is active for BullMQ, and stalls as any other when the process is killed.
 */
export class SlotShares {
  #slots = 0;
  #parts = 1;
  #fullShare = 0;
  readonly #thread: Thread;
  readonly #usage: Usage;
  readonly #used = new Map<string, number>();
  /** What the jobs of each account cost that have a slot. */
  readonly #costs = new Map<string, number>();
  /** How many jobs of each account work now; what rests does not. */
  readonly #working = new Map<string, number>();
  /** What each account's jobs used and was not rested for yet. Milliseconds. */
  readonly #owed = new Map<string, number>();
  readonly #usedMs: () => number;
  #notedMs: number;
  readonly #waiting = new Set<Waiting>();
  readonly #pullOther: (accounts: string[]) => Promise<boolean>;
  #inUse = 0;
  /** When time was last scarce. */
  #scarceAt = Number.NEGATIVE_INFINITY;
  #isLooking = false;
  #isClosed = false;

  /**
   * `pullOther` makes a job of another account than those that use their share the next of the queue, and returns false if
   * none waits; it is called only when nothing more is fetched. No more jobs must come than there are slots: more would be
   * kept from other processes. `usedMs` returns what all jobs have used so far: the processor's time by default, because
   * how long a job takes says little if it waits for an endpoint.
   */
  constructor(
    slots: number,
    pullOther: (accounts: string[]) => Promise<boolean>,
    { thread = thisThread, usedMs = processCpuMs }: { thread?: Thread; usedMs?: () => number } = {},
  ) {
    this.#usage = new Usage(LEAST_MS_PER_SECOND);
    this.#usedMs = usedMs;
    this.#notedMs = usedMs();
    this.#pullOther = pullOther;
    this.#thread = thread;
    this.resize(slots);
  }

  /**
   * From now on there are so many slots; jobs that have one above that keep it until they are done. `parts`: over how many
   * queues the work of this process is divided, each with slots of its own.
   */
  resize(slots: number, parts = 1): void {
    this.#parts = parts;
    this.#slots = slots;
    this.#fullShare = Math.max(1, Math.min(Math.ceil(slots * ACCOUNT_SHARE), slots - 1));
    this.#serve();
  }

  /**
   * Resolves with true once the account has a slot for a job of this cost, which must be released; with false if the job
   * must go back.
   */
  acquire(account: string, cost = 1): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    this.#usage.note(account, 0);
    if (this.#mayStart(account, cost)) {
      this.#start(account, cost);
      return Promise.resolve(true);
    }
    return new Promise(resolve => {
      const waiting: Waiting = { account, cost, resolve, timer: undefined };
      this.#waiting.add(waiting);
      this.#watch(waiting);
      if (!this.#isLooking) void this.#look();
    });
  }

  /** Takes back the slot of a job; after a rest, while time is scarce and the account uses much of it. */
  release(account: string, cost = 1): void {
    this.#noteWork();
    this.#working.set(account, (this.#working.get(account) ?? 1) - 1);
    const owedMs = this.#owed.get(account) ?? 0;
    const mustRest = owedMs >= LONG_MS && this.#isScarceFor(account);
    if (mustRest || this.#working.get(account) === 0) this.#owed.delete(account);
    const restMs = mustRest ? Math.min(MAX_REST_MS, owedMs * REST_FACTOR * this.#thread.pressure) : 0;
    if (restMs > 0 && !this.#isClosed) setTimeout(() => this.#free(account, cost), restMs).unref();
    else this.#free(account, cost);
  }

  #free(account: string, cost: number): void {
    this.#inUse -= 1;
    const used = (this.#used.get(account) ?? 0) - 1;
    if (used > 0) {
      this.#used.set(account, used);
      this.#costs.set(account, (this.#costs.get(account) ?? 0) - cost);
    } else {
      this.#used.delete(account);
      this.#costs.delete(account);
    }
    this.#serve();
  }

  /** Sends all that wait back to the queue, and all that come from now on. */
  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#waiting) this.#end(waiting, false);
  }

  #shareOf(account: string): number {
    const isScarce = this.#isScarce;
    if (!this.#usage.isHeavy(account)) return this.#fullShare;
    // Not all at once: the jobs that then start would make time scarce again until the last of them is done.
    const more = isScarce ? 0 : Math.floor((performance.now() - this.#scarceAt) / MORE_AFTER_MS);
    return Math.min(BUSY_SLOTS + more, this.#fullShare);
  }

  get #isScarce(): boolean {
    if (this.#thread.pressure === 1) return false;
    this.#scarceAt = performance.now();
    return true;
  }

  #isScarceFor(account: string): boolean {
    return this.#isScarce && this.#usage.isHeavy(account);
  }

  #mayStart(account: string, cost: number): boolean {
    return this.#inUse < this.#slots && !this.#isAtShare(account, cost);
  }

  /**
   * Beside other accounts the share counts what jobs cost: a few that hold hundreds of events each, started together, would
   * make everything wait for all of them.
   */
  #isAtShare(account: string, cost: number): boolean {
    const used = this.#used.get(account) ?? 0;
    const share = this.#shareOf(account);
    if (used >= share) return true;
    if (used === 0 || this.#usage.isAlone) return false;
    return (this.#costs.get(account) ?? 0) + cost > share;
  }

  #start(account: string, cost: number): void {
    this.#noteWork();
    this.#costs.set(account, (this.#costs.get(account) ?? 0) + cost);
    this.#working.set(account, (this.#working.get(account) ?? 0) + 1);
    this.#inUse += 1;
    this.#used.set(account, (this.#used.get(account) ?? 0) + 1);
  }

  /** Notes what was used since the last time, in equal parts for the jobs that work. */
  #noteWork(): void {
    const now = this.#usedMs();
    const usedMs = (now - this.#notedMs) / this.#parts;
    this.#notedMs = now;
    let all = 0;
    for (const jobs of this.#working.values()) all += jobs;
    for (const [account, jobs] of this.#working) {
      if (jobs === 0) {
        this.#working.delete(account);
        continue;
      }
      const ofAccountMs = (usedMs * jobs) / all;
      this.#usage.note(account, ofAccountMs);
      this.#owed.set(account, (this.#owed.get(account) ?? 0) + ofAccountMs);
    }
  }

  /** Gives slots to jobs that wait; more than one if the share has become larger. */
  #serve(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      this.#start(next.account, next.cost);
      this.#end(next, true);
    }
  }

  #next(): Waiting | undefined {
    let next: Waiting | undefined;
    for (const waiting of this.#waiting) {
      if (!this.#mayStart(waiting.account, waiting.cost)) continue;
      const used = this.#used.get(waiting.account) ?? 0;
      if (!next || used < (this.#used.get(next.account) ?? 0)) next = waiting;
    }
    return next;
  }

  #end(waiting: Waiting, hasSlot: boolean): void {
    clearTimeout(waiting.timer);
    this.#waiting.delete(waiting);
    waiting.resolve(hasSlot);
  }

  /** Sends a job back as soon as one that could start now is kept out by those that wait here. */
  async #look(): Promise<void> {
    this.#isLooking = true;
    while (this.#waiting.size > 0) {
      await delay(LOOK_MS);
      this.#serve();
      // Until then the worker fetches more by itself.
      if (this.#waiting.size + this.#inUse < this.#slots) continue;
      const kept = [...this.#waiting].filter(({ account, cost }) => this.#isAtShare(account, cost));
      const isPulled = await this.#pullOther([...new Set(kept.map(({ account }) => account))]).catch(
        () => false,
      );
      const last = kept.findLast(waiting => this.#waiting.has(waiting));
      if (isPulled && last) this.#end(last, false);
    }
    this.#isLooking = false;
  }

  /** Only a job whose account is at its share goes back: if all slots are in use, it is as near to one as any other. */
  #watch(waiting: Waiting): void {
    const afterMs = REQUEUE_AFTER_MS * (0.5 + Math.random());
    waiting.timer = setTimeout(() => {
      if (this.#isAtShare(waiting.account, waiting.cost)) this.#end(waiting, false);
      else this.#watch(waiting);
    }, afterMs);
  }
}
