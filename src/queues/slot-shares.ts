import { type Thread, thisThread } from "../lib/busy-thread.ts";
import { Company } from "../lib/company.ts";

/** The share of a worker's slots that one account may use at a time, so that another one finds a slot at once. */
const ACCOUNT_SHARE = 0.75;
/**
 * The slots that one account may use at a time while the thread is busy and other accounts have jobs: then more at once
 * make none of them faster, and each step of another account's job waits for a step of every one of them.
 */
const BUSY_SLOTS = 1;
/** How many times as long as a long job its slot then rests, so that the stores and the processor have time for others. */
const REST_FACTOR = 3;
const LONG_MS = 50;
const MAX_REST_MS = 2000;

/** A job that waits for its share goes back to its queue after this, give or take half: another process may have a slot. */
const REQUEUE_AFTER_MS = 1000;
/** How soon a job whose turn it is is noticed while everything that was fetched has to wait. */
const LOOK_MS = 10;
interface Waiting {
  account: string;
  resolve: (hasSlot: boolean) => void;
  timer: NodeJS.Timeout | undefined;
}

/**
 * The slots of one worker process. A job that was fetched from the queue waits here while all slots are in use, or while its
 * account uses its share; a free slot goes to the account that uses the fewest. Nothing here outlives the process: a job
 * that waits is active for BullMQ, and stalls as any other when the process is killed.
 */
export class SlotShares {
  readonly #slots: number;
  readonly #fullShare: number;
  readonly #thread: Thread;
  readonly #company = new Company();
  readonly #used = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  readonly #pullOther: (accounts: string[]) => Promise<boolean>;
  #inUse = 0;
  #isLooking = false;
  #isClosed = false;

  /**
   * `pullOther` makes a job of another account than those that use their share the next of the queue, and returns false if
   * none waits; it is called only when nothing more is fetched. No more jobs must come than there are slots: more would be kept from other processes.
   */
  constructor(
    slots: number,
    pullOther: (accounts: string[]) => Promise<boolean>,
    thread: Thread = thisThread,
  ) {
    this.#slots = slots;
    this.#pullOther = pullOther;
    this.#thread = thread;
    this.#fullShare = Math.max(1, Math.min(Math.ceil(slots * ACCOUNT_SHARE), slots - 1));
  }

  /** Resolves with true once the account has a slot, which must be released; with false if the job must go back. */
  acquire(account: string): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    this.#company.note(account);
    if (this.#mayStart(account)) {
      this.#start(account);
      return Promise.resolve(true);
    }
    return new Promise(resolve => {
      const waiting: Waiting = { account, resolve, timer: undefined };
      this.#waiting.add(waiting);
      this.#watch(waiting);
      if (!this.#isLooking) void this.#look();
    });
  }

  /** Takes back the slot of a job that took `workedMs`; after a rest, while the thread is busy and others have jobs. */
  release(account: string, workedMs = 0): void {
    const restMs = this.#isScarce && workedMs >= LONG_MS ? Math.min(MAX_REST_MS, workedMs * REST_FACTOR) : 0;
    if (restMs > 0 && !this.#isClosed) setTimeout(() => this.#free(account), restMs).unref();
    else this.#free(account);
  }

  #free(account: string): void {
    this.#inUse -= 1;
    const used = (this.#used.get(account) ?? 0) - 1;
    if (used > 0) this.#used.set(account, used);
    else this.#used.delete(account);
    this.#serve();
  }

  /** Sends all that wait back to the queue, and all that come from now on. */
  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#waiting) this.#end(waiting, false);
  }

  get #share(): number {
    return this.#isScarce ? Math.min(BUSY_SLOTS, this.#fullShare) : this.#fullShare;
  }

  get #isScarce(): boolean {
    return !this.#company.isOne && this.#thread.isBusy;
  }

  #mayStart(account: string): boolean {
    return this.#inUse < this.#slots && (this.#used.get(account) ?? 0) < this.#share;
  }

  #start(account: string): void {
    this.#inUse += 1;
    this.#used.set(account, (this.#used.get(account) ?? 0) + 1);
  }

  /** Gives slots to jobs that wait; more than one if the share has become larger. */
  #serve(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      this.#start(next.account);
      this.#end(next, true);
    }
  }

  #next(): Waiting | undefined {
    let next: Waiting | undefined;
    for (const waiting of this.#waiting) {
      if (!this.#mayStart(waiting.account)) continue;
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
      await new Promise(resolve => setTimeout(resolve, LOOK_MS));
      this.#serve();
      // Until then the worker fetches more by itself.
      if (this.#waiting.size + this.#inUse < this.#slots) continue;
      const accounts = [...this.#used.keys()].filter(account => this.#isAtShare({ account }));
      const isPulled = await this.#pullOther(accounts).catch(() => false);
      const last = [...this.#waiting].findLast(waiting => this.#isAtShare(waiting));
      if (isPulled && last) this.#end(last, false);
    }
    this.#isLooking = false;
  }

  #isAtShare({ account }: Pick<Waiting, "account">): boolean {
    return (this.#used.get(account) ?? 0) >= this.#share;
  }

  /** Only a job whose account is at its share goes back: if all slots are in use, it is as near to one as any other. */
  #watch(waiting: Waiting): void {
    const afterMs = REQUEUE_AFTER_MS * (0.5 + Math.random());
    waiting.timer = setTimeout(() => {
      if (this.#isAtShare(waiting)) this.#end(waiting, false);
      else this.#watch(waiting);
    }, afterMs);
  }
}
