import { AppError } from "../lib/errors.ts";
import { failpoint } from "../lib/failpoint.ts";
import { stringifyJson } from "../lib/json-text.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { RedisClient } from "../store/redis.ts";
import { asUnavailable } from "../store/redis.ts";
import { type Pushed, type QueueBounds, type RunQueue, UNBOUNDED } from "../store/run-queue.ts";
import { enqueue, jobState, type Queues } from "./define-queue.ts";
import type { RunItem } from "./run-item.ts";
import { notifyJobId, runs } from "./runs.ts";

export interface RunQueueDeps {
  runQueue: RunQueue;
  queues: Queues;
}

/**
 * Appends a run to its source's run queue (a change goes ahead of all runs) and notifies a worker. Once this resolves, the
 * run is accepted. Throws `unavailable` if Redis is away, `rate-limited` if the run does not fit into `bounds`, or too many
 * changes wait; any other error is about the item.
 * `bounds.ownerId` is the account whose turn the run takes.
 */
export async function enqueueRun(
  platform: RunQueueDeps,
  sourceId: string,
  item: RunItem,
  bounds?: QueueBounds,
): Promise<void> {
  const [accepted] = await enqueueRuns(platform, sourceId, [item], bounds);
  if (!accepted) throw runQueueIsFull();
}

/** As `enqueueRun`, for many runs of one source; returns for each whether it was accepted or the queue was full. */
export async function enqueueRuns(
  platform: RunQueueDeps,
  sourceId: string,
  items: RunItem[],
  bounds: QueueBounds = UNBOUNDED,
): Promise<boolean[]> {
  const { accepted, notification } = await push(platform, sourceId, items, bounds);
  failpoint("runs-pushed");
  if (notification !== null) await enqueueNotify(platform, sourceId, notification, bounds.ownerId);
  return items.map((_, i) => i < accepted);
}

/** The error of an endpoint whose source has too many runs waiting. */
export const runQueueIsFull = () =>
  new AppError("rate-limited", "too many requests wait for this source", { retryAfterMs: 5000 });

async function push(
  platform: RunQueueDeps,
  sourceId: string,
  items: RunItem[],
  bounds: QueueBounds,
): Promise<Pushed> {
  const [first] = items;
  const texts = items.map(stringifyJson);
  try {
    if (first?.kind === "change") {
      // A deletion frees what waits, so it always fits.
      const most = first.op === "delete" ? 0 : LIMITS.queuedChanges.value;
      return await platform.runQueue.pushChange(sourceId, texts[0] ?? "", most);
    }
    return await platform.runQueue.push(sourceId, texts, bounds);
  } catch (error) {
    throw asUnavailable(error);
  }
}

/**
 * Asks the workers to look at a source's run queue, in its owner's turn. Does nothing more if a job that asks the same waits already, so that
 * one waits for a source, however long the backlog and however often this is called. Throws `unavailable`.
 */
export async function notifyRuns(platform: RunQueueDeps, sourceId: string, ownerId?: string): Promise<void> {
  await enqueueNotify(platform, sourceId, await platform.runQueue.notification(sourceId), ownerId);
}

/**
 * As `notifyRuns`, for runs that no worker took for a while; returns false if a job that asks for them waits. A job that
 * failed, and is kept, would swallow another one of its name: then the notification gets a new name.
 */
export async function notifyAgain(
  platform: RunQueueDeps & { redis: RedisClient },
  sourceId: string,
  ownerId?: string,
): Promise<boolean> {
  const notification = await platform.runQueue.notification(sourceId);
  const state = await jobState(platform, runs, notifyJobId({ source_id: sourceId, notification }));
  if (state === "live") return false;
  const isUsed = state === "finished";
  const name = isUsed ? await platform.runQueue.notification(sourceId, notification) : notification;
  await enqueueNotify(platform, sourceId, name, ownerId);
  return true;
}

async function enqueueNotify(
  platform: Pick<RunQueueDeps, "queues">,
  sourceId: string,
  notification: string,
  ownerId = "",
): Promise<void> {
  await enqueue(platform.queues, runs.jobs.notify, {
    source_id: sourceId,
    notification,
    ...(ownerId !== "" && { account_id: ownerId }),
  });
}
