/** How long what accounts do is counted together. An account is present for one to two of these. Milliseconds. */
const WINDOW_MS = 5000;

/** What was done in less time counts as if it had taken this long. Milliseconds. */
const MIN_COVERED_MS = 1000;

/** What accounts did in a window of time, in any unit. */
interface Window {
  uses: Map<string, number>;
  total: number;
}

const emptyWindow = (): Window => ({ uses: new Map(), total: 0 });

/** Who shares something at the moment, and who uses more of it than others: alone, an account may use all of it. */
export class Company {
  #last = emptyWindow();
  #present = emptyWindow();
  #endsAt = 0;
  /** Accounts that are in both windows. */
  #inBoth = 0;
  readonly #least: number;

  /** `leastPerSecond`: an account that uses no more than this is never heavy, however little others use. */
  constructor(leastPerSecond = 0) {
    this.#least = leastPerSecond;
  }

  /** Notes that an account is here now, and how much it uses, in a unit of the caller's. */
  note(account: string, use = 1): void {
    this.#advance();
    const before = this.#present.uses.get(account);
    if (before === undefined && this.#last.uses.has(account)) this.#inBoth += 1;
    this.#present.uses.set(account, (before ?? 0) + use);
    this.#present.total += use;
  }

  /** True if only one account was here lately. */
  get isOne(): boolean {
    return this.#count < 2;
  }

  /** True if the account used more lately than the average of all that were here, and more than the least. */
  isHeavy(account: string): boolean {
    const count = this.#count;
    if (count < 2) return false;
    const use = (this.#present.uses.get(account) ?? 0) + (this.#last.uses.get(account) ?? 0);
    return use * count > this.#present.total + this.#last.total && use > this.#least * this.#coveredSeconds;
  }

  /** How long the windows have lasted so far. */
  get #coveredSeconds(): number {
    const presentMs = WINDOW_MS - Math.max(0, this.#endsAt - performance.now());
    return Math.max(MIN_COVERED_MS, presentMs + (this.#last.uses.size > 0 ? WINDOW_MS : 0)) / 1000;
  }

  get #count(): number {
    this.#advance();
    return this.#present.uses.size + this.#last.uses.size - this.#inBoth;
  }

  #advance(): void {
    const now = performance.now();
    if (now < this.#endsAt) return;
    this.#last = now - this.#endsAt < WINDOW_MS ? this.#present : emptyWindow();
    this.#present = emptyWindow();
    this.#inBoth = 0;
    this.#endsAt = now + WINDOW_MS;
  }
}
