import { AppError } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";

/** The account of the command line, whose work no other account waits for. */
export const LOCAL_ACCOUNT = "local";

/** How many of `slots` one account may hold at a time, so that another one finds a slot at once. */
export function shareOf(slots: number): number {
  const share = Math.ceil((slots * LIMITS.accountSharePercent.value) / 100);
  return Math.max(1, Math.min(share, slots - 1));
}

export interface SlotOptions {
  /** What all accounts may hold together; unlimited by default. */
  total?: number;
  /** What one account may hold; unlimited by default. */
  perAccount?: number;
  /** Pieces of work for `run` that may wait, of one account and of all; unlimited by default. */
  waitingPerAccount?: number;
  waiting?: number;
  /** How long a slot of `run` stays held after work of this many milliseconds; not at all by default. */
  restMs?: (workedMs: number) => number;
  /** What is held, for the errors: `components are being saved`. */
  what?: string;
}

/** Who waits for a slot. */
export interface Waiter {
  account: string;
  /** What keeps the waiter from starting besides the slots. It is asked often. */
  mayStart?(): boolean;
  /** Called once, as soon as the slot is the account's. */
  start(): void;
}

interface Account<W> {
  held: number;
  /** In order of arrival. */
  waiting: Set<W>;
  /** When the account last got a slot, as a running number. */
  servedAt: number;
}

const RETRY_AT_ONCE = { retryAfterMs: 1000 };
const RETRY_LATER = { retryAfterMs: 5000 };

/**
 * What accounts hold at a time of something in this process: slots for work, or bytes. Who finds no slot waits; the next one
 * goes to the account that holds the fewest, and among equals to the one that was served the longest time ago.
 */
export class Slots<W extends Waiter = Waiter> {
  readonly #options: SlotOptions;
  readonly #accounts = new Map<string, Account<W>>();
  /** Accounts with waiters. */
  readonly #lines = new Set<Account<W>>();
  #total: number;
  #held = 0;
  #waiting = 0;
  #served = 0;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#total = options.total ?? Number.POSITIVE_INFINITY;
  }

  get held(): number {
    return this.#held;
  }

  heldBy(account: string): number {
    return this.#accounts.get(account)?.held ?? 0;
  }

  /** All that wait, those of one account in order. */
  waiters(): W[] {
    return this.#waiting === 0 ? [] : [...this.#lines].flatMap(({ waiting }) => [...waiting]);
  }

  /** From now on all accounts hold no more than `total` together; what is held above that stays held until it is released. */
  resize(total: number): void {
    this.#total = total;
    this.serve();
  }

  /** Whose bound keeps the account from holding this much more; null if none does. */
  whatIsFull(account: string, amount = 1): "account" | "all" | null {
    const { perAccount = Number.POSITIVE_INFINITY } = this.#options;
    if (this.heldBy(account) + amount > perAccount) return "account";
    return this.#held + amount > this.#total ? "all" : null;
  }

  /** Holds an amount until it is released. Throws `rate-limited` if the account would hold too much, `unavailable` if all would. */
  hold(account: string, amount = 1): void {
    const { what = "things" } = this.#options;
    const full = this.whatIsFull(account, amount);
    if (full === "account") {
      throw new AppError("rate-limited", `too many ${what} of this account at once`, RETRY_AT_ONCE);
    }
    if (full === "all") throw new AppError("unavailable", `too many ${what} at once`, RETRY_AT_ONCE);
    this.#add(this.#accountOf(account), amount);
  }

  /** Releases what an account holds; who waits for it starts. */
  release(account: string, amount = 1): void {
    const known = this.#accounts.get(account);
    if (!known) return;
    this.#held -= amount;
    known.held -= amount;
    this.#evict(account, known);
    this.serve();
  }

  /** Starts the waiter, unless it has to wait; returns whether it did. */
  tryStart(waiter: W): boolean {
    if (this.whatIsFull(waiter.account) !== null || waiter.mayStart?.() === false) return false;
    this.#add(this.#accountOf(waiter.account), 1);
    waiter.start();
    return true;
  }

  /** Starts the waiter in its account's turn, unless it leaves before. */
  wait(waiter: W): void {
    const account = this.#accountOf(waiter.account);
    account.waiting.add(waiter);
    this.#lines.add(account);
    this.#waiting += 1;
  }

  /** Returns false if the waiter no longer waits. */
  leave(waiter: W): boolean {
    const account = this.#accounts.get(waiter.account);
    if (!account?.waiting.delete(waiter)) return false;
    this.#waiting -= 1;
    if (account.waiting.size === 0) this.#lines.delete(account);
    this.#evict(waiter.account, account);
    return true;
  }

  /** Gives free slots to waiters, in turn. To be called when what keeps one from starting besides the slots has changed. */
  serve(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      const [account, waiter] = next;
      this.#add(account, 1);
      this.leave(waiter);
      waiter.start();
    }
  }

  /**
   * Does `work` in a slot. Throws `rate-limited` if too much work of the account waits, `unavailable` if too much of all accounts
   * does, and what `work` throws.
   */
  async run<T>(this: Slots, account: string, work: () => Promise<T>): Promise<T> {
    const isStarted = this.tryStart({ account, start: () => undefined });
    if (!isStarted) await this.#inTurn(account);
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      const restMs = this.#options.restMs?.(performance.now() - startedAt) ?? 0;
      if (restMs > 0) setTimeout(() => this.release(account), restMs).unref();
      else this.release(account);
    }
  }

  #inTurn(this: Slots, account: string): Promise<void> {
    const {
      waitingPerAccount = Number.POSITIVE_INFINITY,
      waiting = Number.POSITIVE_INFINITY,
      what = "things",
    } = this.#options;
    if ((this.#accounts.get(account)?.waiting.size ?? 0) >= waitingPerAccount) {
      throw new AppError("rate-limited", `too many ${what} for this account`, RETRY_LATER);
    }
    if (this.#waiting >= waiting) throw new AppError("unavailable", `too many ${what}`, RETRY_LATER);
    return new Promise(start => this.wait({ account, start }));
  }

  #next(): [Account<W>, W] | undefined {
    let next: [Account<W>, W] | undefined;
    for (const account of this.#lines) {
      if (next && !isBefore(account, next[0])) continue;
      for (const waiter of account.waiting) {
        if (this.whatIsFull(waiter.account) !== null) break;
        if (waiter.mayStart?.() === false) continue;
        next = [account, waiter];
        break;
      }
    }
    return next;
  }

  #accountOf(name: string): Account<W> {
    const account = this.#accounts.get(name) ?? { held: 0, waiting: new Set(), servedAt: 0 };
    this.#accounts.set(name, account);
    return account;
  }

  #add(account: Account<W>, amount: number): void {
    this.#held += amount;
    this.#served += 1;
    account.held += amount;
    account.servedAt = this.#served;
  }

  #evict(name: string, { held, waiting }: Account<W>): void {
    if (held <= 0 && waiting.size === 0) this.#accounts.delete(name);
  }
}

const isBefore = (a: Account<unknown>, b: Account<unknown>): boolean =>
  a.held < b.held || (a.held === b.held && a.servedAt < b.servedAt);
