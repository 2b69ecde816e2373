import { AppError } from "../lib/errors.ts";
import { failpoint } from "../lib/failpoint.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Pushed, RunQueue } from "../store/run-queue.ts";
import { enqueue, type Queues } from "./define-queue.ts";
import type { RunItem } from "./run-item.ts";
import { runs } from "./runs.ts";

export interface RunQueueDeps {
  runQueue: RunQueue;
  queues: Queues;
}

/** Runs that may wait for one source before its endpoint rejects more, so that a flood can't fill Redis. */
const MAX_QUEUED_RUNS = LIMITS.queuedRuns.value;

/**
 * Appends a run to its source's run queue (a change goes ahead of all runs) and notifies a worker. Once this resolves, the
 * run is accepted. `ownerId` is the source's owner, whose turn the run takes. Throws `unavailable` if Redis is away, `rate-limited` if the run queue of an HTTP source is full.
 */
export async function enqueueRun(
  platform: RunQueueDeps,
  sourceId: string,
  item: RunItem,
  ownerId?: string,
): Promise<void> {
  const [accepted] = await enqueueRuns(platform, sourceId, [item], ownerId);
  if (!accepted) throw runQueueIsFull();
}

/** As `enqueueRun`, for many runs of one source; returns for each whether it was accepted or the queue was full. */
export async function enqueueRuns(
  platform: RunQueueDeps,
  sourceId: string,
  items: RunItem[],
  ownerId?: string,
): Promise<boolean[]> {
  const pushed = await push(platform, sourceId, items);
  failpoint("runs-pushed");
  if (pushed.includes("notify")) await notifyRuns(platform, sourceId, ownerId);
  return pushed.map(result => result !== "full");
}

/** The error of an endpoint whose source has too many runs waiting. */
export const runQueueIsFull = () =>
  new AppError("rate-limited", "too many requests wait for this source", { retryAfterMs: 5000 });

async function push(platform: RunQueueDeps, sourceId: string, items: RunItem[]): Promise<Pushed[]> {
  const [first] = items;
  const texts = items.map(item => JSON.stringify(item));
  const most = first?.kind === "http" ? MAX_QUEUED_RUNS : 0;
  try {
    if (first?.kind === "change") return [await platform.runQueue.pushChange(sourceId, texts[0] ?? "")];
    return await platform.runQueue.push(sourceId, texts, most);
  } catch (error) {
    throw new AppError("unavailable", "the queue can't be reached", { cause: error, retryAfterMs: 1000 });
  }
}

/** Asks the workers to look at a source's run queue, in its owner's turn. Throws `unavailable`. */
export async function notifyRuns(
  platform: Pick<RunQueueDeps, "queues">,
  sourceId: string,
  ownerId?: string,
): Promise<void> {
  await enqueue(platform.queues, runs.jobs.notify, {
    source_id: sourceId,
    ...(ownerId !== undefined && { account_id: ownerId }),
  });
}
