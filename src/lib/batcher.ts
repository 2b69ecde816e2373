import { AppError } from "./errors.ts";
import { groupBy } from "./lists.ts";

/** The share of a batch above which an entry is heavy. */
const HEAVY_SHARE = 1 / 8;

export interface BatcherOptions<In> {
  /** Most weight of one batch; a single heavier entry goes alone. */
  maxWeight: number;
  /** Batches in progress at a time; 1 by default. */
  concurrency?: number;
  /** The weight of an entry; 1 by default. */
  weigh?: (entry: In) => number;
  /**
   * The account of an entry. Batches then take the accounts' entries in turn, and a heavy entry shares a batch with none of
   * another account, so that what is small does not wait for what is large.
   */
  accountOf?: (entry: In) => string;
  /** Milliseconds to wait for more entries before a batch starts; by default only those of the same tick share one. */
  lingerMs?: number;
  /** Weight at which a batch starts without lingering. */
  flushWeight?: number;
}

interface Waiting<In, Out> {
  entry: In;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
}

/**
 * Turns many calls into few: entries that arrive while earlier batches are in progress wait and share the next one. Under
 * little load a call goes alone and at once; the more load, the larger the batches and the fewer the round trips. `work`
 * returns one result for each entry, in order, or nothing for all of them. A failed batch is retried entry by entry, so
 * that a bad entry fails no other; `unavailable` fails every entry, waiting ones too, and is not retried.
 */
export function createBatcher<In, Out>(
  work: (batch: In[]) => Promise<Out[]>,
  options: BatcherOptions<In>,
): (entry: In) => Promise<Out>;
export function createBatcher<In>(
  work: (batch: In[]) => Promise<void>,
  options: BatcherOptions<In>,
): (entry: In) => Promise<void>;
export function createBatcher<In, Out>(
  work: (batch: In[]) => Promise<unknown>,
  options: BatcherOptions<In>,
): (entry: In) => Promise<Out> {
  const batcher = new Batcher<In, Out>(work as (batch: In[]) => Promise<Out[] | undefined>, options);
  return entry => batcher.add(entry);
}

class Batcher<In, Out> {
  readonly #work: (batch: In[]) => Promise<Out[] | undefined>;
  readonly #options: Required<Omit<BatcherOptions<In>, "accountOf">>;
  readonly #accountOf: ((entry: In) => string) | undefined;
  #waiting: Waiting<In, Out>[] = [];
  #waitingWeight = 0;
  #inProgress = 0;
  #timer: NodeJS.Timeout | undefined;
  #isScheduled = false;
  /** The account whose entry was the first of the last batch. */
  #last = "";

  constructor(work: (batch: In[]) => Promise<Out[] | undefined>, options: BatcherOptions<In>) {
    this.#work = work;
    this.#accountOf = options.accountOf;
    const defaults = { concurrency: 1, weigh: () => 1, lingerMs: 0, flushWeight: options.maxWeight };
    this.#options = { ...defaults, ...options };
  }

  add(entry: In): Promise<Out> {
    return new Promise<Out>((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject });
      this.#waitingWeight += this.#options.weigh(entry);
      this.#schedule();
    });
  }

  #schedule(): void {
    const { concurrency, lingerMs, flushWeight } = this.#options;
    if (this.#isScheduled || this.#inProgress >= concurrency || this.#waiting.length === 0) return;
    if (lingerMs > 0 && this.#waitingWeight < flushWeight) {
      this.#timer ??= setTimeout(() => this.#start(), lingerMs).unref();
      return;
    }
    this.#isScheduled = true;
    setImmediate(() => this.#start());
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isScheduled = false;
    if (this.#inProgress >= this.#options.concurrency || this.#waiting.length === 0) return;
    void this.#run(this.#nextBatch());
    this.#schedule();
  }

  #nextBatch(): Waiting<In, Out>[] {
    if (this.#accountOf) this.#waiting = this.#inTurn(this.#accountOf);
    const mayShare = this.#sharing();
    let weight = 0;
    let count = 0;
    for (const { entry } of this.#waiting) {
      const more = this.#options.weigh(entry);
      if (!mayShare(entry) || (count > 0 && weight + more > this.#options.maxWeight)) break;
      weight += more;
      count += 1;
    }
    this.#waitingWeight -= weight;
    return this.#waiting.splice(0, count);
  }

  /** Returns a function that says of one entry after another whether it may be in a batch with those before it. */
  #sharing(): (entry: In) => boolean {
    const accountOf = this.#accountOf;
    if (!accountOf) return () => true;
    const accounts = new Set<string>();
    let hasHeavy = false;
    return entry => {
      accounts.add(accountOf(entry));
      hasHeavy ||= this.#isHeavy(entry);
      return accounts.size === 1 || !hasHeavy;
    };
  }

  #isHeavy(entry: In): boolean {
    return this.#options.weigh(entry) > this.#options.maxWeight * HEAVY_SHARE;
  }

  /** What waits, an entry of each account at a time; an account whose entry was in the last batch comes after the others. */
  #inTurn(accountOf: (entry: In) => string): Waiting<In, Out>[] {
    const byAccount = groupBy(this.#waiting, ({ entry }) => accountOf(entry));
    if (byAccount.size < 2) return this.#waiting;
    const lists = [...byAccount].sort(([one], [other]) => this.#servedAt(one) - this.#servedAt(other));
    const longest = Math.max(...lists.map(([, list]) => list.length));
    const ordered: Waiting<In, Out>[] = [];
    for (let n = 0; n < longest; n++) ordered.push(...lists.flatMap(([, list]) => list[n] ?? []));
    this.#last = lists[0]?.[0] ?? "";
    return ordered;
  }

  #servedAt(account: string): number {
    return account === this.#last ? 1 : 0;
  }

  async #run(batch: Waiting<In, Out>[]): Promise<void> {
    this.#inProgress += 1;
    try {
      const results = await this.#work(batch.map(({ entry }) => entry));
      for (const [i, { resolve }] of batch.entries()) resolve(results?.[i] as Out);
    } catch (error) {
      if (error instanceof AppError && error.code === "unavailable") {
        // Those still waiting would get the same error, only later.
        for (const { reject } of [...batch, ...this.#waiting.splice(0)]) reject(error);
        this.#waitingWeight = 0;
      } else if (batch.length === 1) {
        batch[0]?.reject(error);
      } else {
        for (const one of batch) await this.#runAlone(one);
      }
    } finally {
      this.#inProgress -= 1;
      this.#schedule();
    }
  }

  async #runAlone({ entry, resolve, reject }: Waiting<In, Out>): Promise<void> {
    try {
      const results = await this.#work([entry]);
      resolve(results?.[0] as Out);
    } catch (error) {
      reject(error);
    }
  }
}

/** For inserts that no listener waits for: at low rates a few share one insert, which costs far more than an entry. */
export const LINGER = { lingerMs: 20, flushWeight: 8 };

const DEFER_MS = 500;
const MAX_DEFERRED = 1000;

/**
 * For work that no caller waits for: does it a little later, for everything that arrived by then. A failure goes to
 * `onFailure` and is not retried, because something else, such as a sweep, makes up for it.
 */
export function createDeferredBatcher<In>(
  work: (entries: In[]) => Promise<void>,
  onFailure: (error: unknown) => void,
  weigh: (entry: In) => number = () => 1,
): (entries: In[]) => void {
  const add = createBatcher((batch: In[][]) => work(batch.flat()), {
    maxWeight: MAX_DEFERRED,
    weigh: entries => entries.reduce((sum, entry) => sum + weigh(entry), 0),
    lingerMs: DEFER_MS,
  });
  return entries => {
    if (entries.length > 0) add(entries).catch(onFailure);
  };
}
