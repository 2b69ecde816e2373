import { AppError } from "./errors.ts";

export interface GatherOptions<In> {
  /** Weight of one batch at most; a single entry above it goes alone. */
  most: number;
  /** Batches under way at a time. */
  atOnce?: number;
  /** What an entry counts for; 1 by default. */
  weigh?: (entry: In) => number;
  /** Milliseconds to wait for company before a batch begins. 0: at once, with what came in the same turn. */
  delayMs?: number;
  /** Weight of a batch that waits no longer. */
  enough?: number;
}

interface Waiting<In, Out> {
  entry: In;
  done: (out: Out) => void;
  fail: (error: unknown) => void;
}

/**
 * Makes one call of many: what comes while earlier batches are under way waits and goes together in the next. Under
 * little load a call goes alone and at once; the more load, the larger the batches and the fewer the round trips.
 * `work` answers one result for each entry, in their order, or nothing for all of them. A batch that fails is tried
 * again entry by entry, so that one that can't succeed fails no other; `unavailable` concerns all alike, those that wait
 * too, and is not tried again.
 */
export function gather<In, Out>(
  work: (batch: In[]) => Promise<Out[]>,
  options: GatherOptions<In>,
): (entry: In) => Promise<Out>;
export function gather<In>(
  work: (batch: In[]) => Promise<void>,
  options: GatherOptions<In>,
): (entry: In) => Promise<void>;
export function gather<In, Out>(
  work: (batch: In[]) => Promise<unknown>,
  { most, atOnce = 1, weigh = () => 1, delayMs = 0, enough = most }: GatherOptions<In>,
): (entry: In) => Promise<Out> {
  let waiting: Waiting<In, Out>[] = [];
  let waitingWeight = 0;
  let underWay = 0;
  let timer: NodeJS.Timeout | undefined;
  let isNext = false;

  const schedule = () => {
    if (isNext || underWay >= atOnce || waiting.length === 0) return;
    if (delayMs > 0 && waitingWeight < enough) {
      timer ??= setTimeout(begin, delayMs).unref();
      return;
    }
    isNext = true;
    setImmediate(begin);
  };

  const begin = () => {
    clearTimeout(timer);
    timer = undefined;
    isNext = false;
    if (underWay >= atOnce || waiting.length === 0) return;
    void run(takeBatch());
    schedule();
  };

  const takeBatch = () => {
    let weight = 0;
    let count = 0;
    for (const { entry } of waiting) {
      const more = weigh(entry);
      if (count > 0 && weight + more > most) break;
      weight += more;
      count += 1;
    }
    const batch = waiting.slice(0, count);
    waiting = waiting.slice(count);
    waitingWeight -= weight;
    return batch;
  };

  const run = async (batch: Waiting<In, Out>[]) => {
    underWay += 1;
    try {
      const answers = (await work(batch.map(({ entry }) => entry))) as Out[] | undefined;
      for (const [i, { done }] of batch.entries()) done(answers?.[i] as Out);
    } catch (error) {
      if (error instanceof AppError && error.code === "unavailable") {
        // Those who wait would hear the same, only later.
        for (const { fail } of [...batch, ...waiting]) fail(error);
        waiting = [];
        waitingWeight = 0;
      } else if (batch.length === 1) {
        batch[0]?.fail(error);
      } else {
        for (const one of batch) await alone(one);
      }
    } finally {
      underWay -= 1;
      schedule();
    }
  };

  const alone = async ({ entry, done, fail }: Waiting<In, Out>) => {
    try {
      const answers = (await work([entry])) as Out[] | undefined;
      done(answers?.[0] as Out);
    } catch (error) {
      fail(error);
    }
  };

  return entry =>
    new Promise<Out>((done, fail) => {
      waiting.push({ entry, done, fail });
      waitingWeight += weigh(entry);
      schedule();
    });
}

/** For inserts that no listener waits for: at low rates some share one, which costs much more than they. */
export const IN_COMPANY = { delayMs: 20, enough: 8 };

const LATER_MS = 500;
const MOST_LATER = 1000;

/**
 * Does what nobody waits for a little later, for all that came meanwhile. What fails is told to `onFailure` and not tried
 * again: something else makes up for it.
 */
export function gatherLater<In>(
  work: (all: In[]) => Promise<void>,
  onFailure: (error: unknown) => void,
  weigh: (entry: In) => number = () => 1,
): (some: In[]) => void {
  const gathered = gather((batch: In[][]) => work(batch.flat()), {
    most: MOST_LATER,
    weigh: some => some.reduce((sum, entry) => sum + weigh(entry), 0),
    delayMs: LATER_MS,
  });
  return some => {
    if (some.length > 0) gathered(some).catch(onFailure);
  };
}
