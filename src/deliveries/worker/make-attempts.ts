import { setMaxListeners } from "node:events";
import { groupBy } from "../../lib/lists.ts";
import { settlesWithin } from "../../lib/time.ts";
import type { Calling, Working } from "../../platform.ts";
import { enqueueDrain } from "../../queues/enqueue-drain.ts";
import { attemptDue } from "./attempt-due.ts";
import { leaveJob, repeatDetached } from "./put-off.ts";
import type { Admit, Attempt, Due, SharedByAttempts } from "./shared.ts";
import type { Transformed } from "./transform.ts";

interface Options {
  admit: Admit;
  /** False if no attempt of these deliveries was begun before, so that nothing of their functions' results is stored. */
  mayBeStored: boolean;
  /** Stops the attempts for as long as they are made in their job. */
  signal: AbortSignal;
}

/**
 * Makes attempts in parallel, and records each when it ends. Those that take long leave the job: they go on without it, as
 * `detached` ones. Returns how many have which result. Throws what kept an attempt from being made or recorded; then the job is
 * to be started again.
 */
export async function makeAttempts(
  platform: Working & Calling,
  due: Due[],
  { admit, mayBeStored, signal }: Options,
  shared: SharedByAttempts,
): Promise<Record<string, number>> {
  const stop = new AbortController();
  // Each attempt in flight listens; Node would warn about more than ten listeners.
  setMaxListeners(0, stop.signal);
  const onAbort = () => stop.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const counts: Record<string, number> = {};
  const transformedOf = startTransforms(shared, due, { mayBeStored, signal: stop.signal });
  const make = async (attempt: Attempt): Promise<void> => {
    const result = await attemptDue(platform, attempt, { admit, signal: stop.signal }, shared);
    attempt.state = "done";
    counts[result] = (counts[result] ?? 0) + 1;
  };
  const started = due.map(one => {
    const attempt: Attempt = { ...one, state: "waiting", transformed: transformedOf.get(one.deliveryId) };
    return { attempt, work: make(attempt) };
  });
  let inJob = started;
  try {
    if (!(await settlesWithin(allEnded(started), DETACH_MS))) {
      const slow = started.filter(
        ({ attempt }) => attempt.state === "in-flight" || attempt.state === "transforming",
      );
      await leaveJob(
        platform,
        slow.map(({ attempt }) => attempt),
      );
      const goOn = slow.map(one => goOnWithoutJob(platform, one, stop.signal));
      shared.detached.add(Promise.allSettled(goOn), reason => stop.abort(reason));
      counts.detached = slow.length;
      inJob = started.filter(one => !slow.includes(one));
    }
    // The others wait to be admitted, which takes seconds at most.
    const failed = (await allEnded(inJob)).find(({ status }) => status === "rejected");
    if (failed) throw (failed as PromiseRejectedResult).reason;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
  return counts;
}

interface Started {
  attempt: Attempt;
  work: Promise<void>;
}

const allEnded = (started: Started[]) => Promise.allSettled(started.map(({ work }) => work));

/** Waits for an attempt that has left its job; what waits behind it at its webhook is due then. */
async function goOnWithoutJob(
  platform: Working & Calling,
  { attempt, work }: Started,
  signal: AbortSignal,
): Promise<void> {
  try {
    await work;
    if (attempt.row) await enqueueDrain(platform, attempt.webhook);
  } catch {
    await repeatDetached(platform, attempt, signal);
  }
}

/** Starts the functions of those attempts that have one, each with all its events; returns what becomes of each, by delivery. */
function startTransforms(
  { transform }: SharedByAttempts,
  due: Due[],
  options: { mayBeStored: boolean; signal: AbortSignal },
): Map<string, Promise<Transformed>> {
  const started = new Map<string, Promise<Transformed>>();
  // What a function made for an earlier attempt is sent again, even if the subscription has none any more.
  const having = due.filter(
    ({ functionHash, row }) => functionHash !== null || row?.function_hash !== undefined,
  );
  const byFunction = groupBy(
    having,
    ({ listener, functionHash }) => `${listener.subscriptionId} ${functionHash}`,
  );
  for (const group of byFunction.values()) {
    const all = transform(group, options);
    for (const [i, { deliveryId }] of group.entries()) {
      const one = all.then(results => results[i] as Transformed);
      // Awaited by its attempt; until then a rejection without a listener would end the process.
      one.catch(() => undefined);
      started.set(deliveryId, one);
    }
  }
  return started;
}

/**
 * An attempt in flight for longer leaves its job: its delivery is a pending document by then, so that no crash loses it, and
 * the job's slot is free for others (docs/design.md#guarantee-5). Milliseconds.
 */
const DETACH_MS = 1000;

/** Attempts that are still in flight although their jobs are over. */
export class Detached {
  readonly #work = new Map<Promise<unknown>, (reason: unknown) => void>();

  /** Lets work outlive its job; `stop` ends it with the worker. */
  add(work: Promise<unknown>, stop: (reason: unknown) => void): void {
    this.#work.set(work, stop);
    const forget = () => this.#work.delete(work);
    work.then(forget, forget);
  }

  /** Waits for what is in flight; after `deadlineMs` it is stopped, and stays pending. */
  async close(deadlineMs: number): Promise<void> {
    if (await settlesWithin(Promise.allSettled([...this.#work.keys()]), deadlineMs)) return;
    for (const stop of this.#work.values()) stop(new Error("the worker is stopping"));
    await Promise.allSettled([...this.#work.keys()]);
  }
}
