import { USAGE } from "./constants.ts";

/** What accounts did in a window of time, in any unit. */
interface Window {
  uses: Map<string, number>;
  total: number;
}

const emptyWindow = (): Window => ({ uses: new Map(), total: 0 });

/** When an account was here last. */
interface Seen {
  account: string;
  at: number;
}

/** Who shares something at the moment, and who uses more of it than others: alone, an account may use all of it. */
export class Usage {
  #last = emptyWindow();
  #present = emptyWindow();
  #endsAt = 0;
  /** The account that was here last, and the last one before it that is another. */
  #latest: Seen | undefined;
  #other: Seen | undefined;
  /** Accounts that are in both windows. */
  #inBoth = 0;
  readonly #least: number;
  readonly #now: () => number;

  /** `leastPerSecond`: an account that uses no more than this is never heavy, however little others use. `now`: milliseconds. */
  constructor(leastPerSecond = 0, now = () => performance.now()) {
    this.#least = leastPerSecond;
    this.#now = now;
  }

  /** Notes that an account is here now, and how much it uses, in a unit of the caller's. */
  note(account: string, use = 1): void {
    this.#advance();
    if (this.#latest?.account === account) this.#latest.at = this.#now();
    else {
      this.#other = this.#latest;
      this.#latest = { account, at: this.#now() };
    }
    const before = this.#present.uses.get(account);
    if (before === undefined && this.#last.uses.has(account)) this.#inBoth += 1;
    this.#present.uses.set(account, (before ?? 0) + use);
    this.#present.total += use;
  }

  /** True if no more than one account was here lately. */
  get isAlone(): boolean {
    return this.#count < 2;
  }

  /**
   * True if the account used more lately than the average of all that were here, and more than the least, and if another was
   * here a moment ago: room that no other account uses is lost.
   */
  isHeavy(account: string): boolean {
    const count = this.#count;
    if (count < 2 || !this.#isAwaited(account)) return false;
    const use = (this.#present.uses.get(account) ?? 0) + (this.#last.uses.get(account) ?? 0);
    return use * count > this.#present.total + this.#last.total && use > this.#least * this.#coveredSeconds;
  }

  /** Whether an account other than this one was here a moment ago. */
  #isAwaited(account: string): boolean {
    const seen = this.#latest?.account === account ? this.#other : this.#latest;
    return seen !== undefined && this.#now() - seen.at < USAGE.awaitedMs;
  }

  /** How long the windows have lasted so far. */
  get #coveredSeconds(): number {
    const presentMs = USAGE.windowMs - Math.max(0, this.#endsAt - this.#now());
    return Math.max(USAGE.leastCoveredMs, presentMs + (this.#last.uses.size > 0 ? USAGE.windowMs : 0)) / 1000;
  }

  get #count(): number {
    this.#advance();
    return this.#present.uses.size + this.#last.uses.size - this.#inBoth;
  }

  #advance(): void {
    const now = this.#now();
    if (now < this.#endsAt) return;
    this.#last = now - this.#endsAt < USAGE.windowMs ? this.#present : emptyWindow();
    this.#present = emptyWindow();
    this.#inBoth = 0;
    this.#endsAt = now + USAGE.windowMs;
  }
}
