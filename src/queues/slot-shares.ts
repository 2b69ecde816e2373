/** The share of a worker's slots that one account may use at a time, so that another one finds a slot at once. */
const ACCOUNT_SHARE = 0.75;

/** A job that waits for a slot goes back to its queue after this, give or take half: another process may have one. */
const REQUEUE_AFTER_MS = 1000;
/** How soon a job whose turn it is is noticed while everything that was fetched has to wait. */
const LOOK_MS = 10;
/** Looks at that pace: many jobs of an account that hang may stand before one of another account. */
const QUICK_LOOKS = 50;

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
  readonly #share: number;
  readonly #used = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  readonly #othersWait: (accounts: string[]) => Promise<boolean>;
  #inUse = 0;
  #isLooking = false;
  /** How often jobs were sent back since one of an account below its share came. */
  #looks = 0;
  #isClosed = false;

  /**
   * `othersWait` looks whether jobs of other accounts than those that use their share wait in the queue; it is asked only
   * when nothing more is fetched.
   */
  constructor(slots: number, othersWait: (accounts: string[]) => Promise<boolean>) {
    this.#slots = slots;
    this.#othersWait = othersWait;
    this.#share = Math.max(1, Math.min(Math.ceil(slots * ACCOUNT_SHARE), slots - 1));
  }

  /** How many jobs a process fetches beyond its slots, so that those of others are found behind those that must wait. */
  static fetchedBeyond(slots: number): number {
    return Math.max(2, Math.ceil(slots / 2));
  }

  /** Resolves with true once the account has a slot, which must be released; with false if the job must go back. */
  acquire(account: string): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    if ((this.#used.get(account) ?? 0) < this.#share) this.#looks = 0;
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

  release(account: string): void {
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

  #mayStart(account: string): boolean {
    return this.#inUse < this.#slots && (this.#used.get(account) ?? 0) < this.#share;
  }

  #start(account: string): void {
    this.#inUse += 1;
    this.#used.set(account, (this.#used.get(account) ?? 0) + 1);
  }

  #serve(): void {
    let next: Waiting | undefined;
    for (const waiting of this.#waiting) {
      if (!this.#mayStart(waiting.account)) continue;
      const used = this.#used.get(waiting.account) ?? 0;
      if (!next || used < (this.#used.get(next.account) ?? 0)) next = waiting;
    }
    if (!next) return;
    this.#start(next.account);
    this.#end(next, true);
  }

  #end(waiting: Waiting, hasSlot: boolean): void {
    clearTimeout(waiting.timer);
    this.#waiting.delete(waiting);
    waiting.resolve(hasSlot);
  }

  /** Sends jobs back as soon as one that could start now is kept out by those that wait here. */
  async #look(): Promise<void> {
    this.#isLooking = true;
    while (this.#waiting.size + this.#inUse >= this.#slots + SlotShares.fetchedBeyond(this.#slots)) {
      const lookMs = this.#looks < QUICK_LOOKS ? LOOK_MS : REQUEUE_AFTER_MS;
      await new Promise(resolve => setTimeout(resolve, lookMs));
      if (this.#inUse >= this.#slots) continue;
      const atShare = [...this.#used.keys()].filter(account => this.#isAtShare({ account }));
      if (!(await this.#othersWait(atShare).catch(() => false))) continue;
      this.#looks += 1;
      for (const waiting of this.#waiting) if (this.#isAtShare(waiting)) this.#end(waiting, false);
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
