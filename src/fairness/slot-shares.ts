import { setTimeout as delay } from "node:timers/promises";
import { WORKER } from "./constants.ts";
import { Slots, shareOf, type Waiter } from "./slots.ts";
import { type Thread, thisThread } from "./thread.ts";
import { Usage } from "./usage.ts";

/** A job that was fetched and has no slot. */
interface WaitingJob extends Waiter {
  /** What it costs, in the unit of the queue's order. */
  cost: number;
  timer: NodeJS.Timeout | undefined;
  goBack(): void;
}

/** What the jobs of an account do. */
interface Work {
  /** What those cost that have a slot. */
  cost: number;
  /** How many work now; what rests does not. */
  jobs: number;
  /** What they used and was not rested for yet. Milliseconds. */
  owedMs: number;
}

/** The processor's time of this process so far. Milliseconds. */
function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * The slots of one worker process. A job that was fetched from the queue waits here while all slots are in use, or while its
 * account uses its share, which is small while time is scarce and the account uses more of it than others. Nothing here
 * outlives the process: a job that waits is active for BullMQ, and stalls as any other when the process is killed.
 */
export class SlotShares {
  readonly #slots: Slots<WaitingJob>;
  #total = 0;
  #parts = 1;
  readonly #thread: Thread;
  readonly #usage = new Usage(WORKER.leastMsPerSecond);
  readonly #work = new Map<string, Work>();
  readonly #usedMs: () => number;
  #notedMs: number;
  readonly #pullOther: (accounts: string[]) => Promise<boolean>;
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
    this.#slots = new Slots({ total: slots });
    this.#total = slots;
    this.#pullOther = pullOther;
    this.#thread = thread;
    this.#usedMs = usedMs;
    this.#notedMs = usedMs();
  }

  /**
   * Changes the number of slots; jobs that have one above it keep it until they are done. `parts`: over how many queues the
   * work of this process is divided, each with slots of its own.
   */
  resize(slots: number, parts = 1): void {
    this.#parts = parts;
    this.#total = slots;
    this.#slots.resize(slots);
  }

  /**
   * Resolves with true once the account has a slot for a job of this cost, which must be released; with false if the job
   * must go back.
   */
  acquire(account: string, cost = 1): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    this.#usage.note(account, 0);
    return new Promise(resolve => {
      const job: WaitingJob = {
        account,
        cost,
        timer: undefined,
        mayStart: () => !this.#isAtShare(account, cost),
        start: () => {
          clearTimeout(job.timer);
          this.#start(account, cost);
          resolve(true);
        },
        goBack: () => {
          clearTimeout(job.timer);
          if (this.#slots.leave(job)) resolve(false);
        },
      };
      if (this.#slots.tryStart(job)) return;
      this.#slots.wait(job);
      this.#watch(job);
      if (!this.#isLooking) void this.#look();
    });
  }

  /** Takes back the slot of a job; after a rest, while time is scarce and the account uses much of it. */
  release(account: string, cost = 1): void {
    this.#noteWork();
    const work = this.#workOf(account);
    work.jobs -= 1;
    const { owedMs } = work;
    const mustRest = owedMs >= WORKER.longMs && this.#isScarce && this.#usage.isHeavy(account);
    if (mustRest || work.jobs === 0) work.owedMs = 0;
    const restMs = owedMs * WORKER.restFactor * this.#thread.pressure;
    if (!mustRest || this.#isClosed) this.#free(account, cost);
    else setTimeout(() => this.#free(account, cost), Math.min(WORKER.mostRestMs, restMs)).unref();
  }

  /** Sends all that wait back to the queue, and all that come from now on. */
  close(): void {
    this.#isClosed = true;
    for (const job of this.#slots.waiters()) job.goBack();
  }

  #workOf(account: string): Work {
    const work = this.#work.get(account) ?? { cost: 0, jobs: 0, owedMs: 0 };
    this.#work.set(account, work);
    return work;
  }

  #start(account: string, cost: number): void {
    this.#noteWork();
    const work = this.#workOf(account);
    work.cost += cost;
    work.jobs += 1;
  }

  #free(account: string, cost: number): void {
    this.#workOf(account).cost -= cost;
    if (this.#slots.heldBy(account) === 1) this.#work.delete(account);
    this.#slots.release(account);
  }

  #shareOf(account: string): number {
    const isScarce = this.#isScarce;
    const share = shareOf(this.#total);
    if (!this.#usage.isHeavy(account)) return share;
    // Not all at once: the jobs that then start would make time scarce again until the last of them is done.
    const more = isScarce ? 0 : Math.floor((performance.now() - this.#scarceAt) / WORKER.moreAfterMs);
    return Math.min(WORKER.busySlots + more, share);
  }

  get #isScarce(): boolean {
    if (this.#thread.pressure === 1) return false;
    this.#scarceAt = performance.now();
    return true;
  }

  /**
   * Beside other accounts the share counts what jobs cost: a few that hold hundreds of events each, started together, would
   * make everything wait for all of them.
   */
  #isAtShare(account: string, cost: number): boolean {
    const used = this.#slots.heldBy(account);
    const share = this.#shareOf(account);
    if (used >= share) return true;
    if (used === 0 || this.#usage.isAlone) return false;
    return (this.#work.get(account)?.cost ?? 0) + cost > share;
  }

  /** Notes what was used since the last time, in equal parts for the jobs that work. */
  #noteWork(): void {
    const now = this.#usedMs();
    const usedMs = (now - this.#notedMs) / this.#parts;
    this.#notedMs = now;
    let all = 0;
    for (const { jobs } of this.#work.values()) all += jobs;
    for (const [account, work] of this.#work) {
      if (work.jobs === 0) continue;
      const ofAccountMs = (usedMs * work.jobs) / all;
      this.#usage.note(account, ofAccountMs);
      work.owedMs += ofAccountMs;
    }
  }

  /** Sends a job back as soon as one that could start now is kept out by those that wait here. */
  async #look(): Promise<void> {
    this.#isLooking = true;
    for (;;) {
      await delay(WORKER.lookMs);
      this.#slots.serve();
      const waiting = this.#slots.waiters();
      if (waiting.length === 0) break;
      // Until then the worker fetches more by itself.
      if (waiting.length + this.#slots.held < this.#total) continue;
      const kept = waiting.filter(({ account, cost }) => this.#isAtShare(account, cost));
      const accounts = [...new Set(kept.map(({ account }) => account))];
      const isPulled = await this.#pullOther(accounts).catch(() => false);
      const left = new Set(this.#slots.waiters());
      if (isPulled) kept.findLast(job => left.has(job))?.goBack();
    }
    this.#isLooking = false;
  }

  /** Only a job whose account is at its share goes back: if all slots are in use, it is as near to one as any other. */
  #watch(job: WaitingJob): void {
    const afterMs = WORKER.requeueAfterMs * (0.5 + Math.random());
    job.timer = setTimeout(() => {
      if (this.#isAtShare(job.account, job.cost)) job.goBack();
      else this.#watch(job);
    }, afterMs);
  }
}
