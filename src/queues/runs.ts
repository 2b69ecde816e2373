import { type Static, Type } from "typebox";
import { AppError } from "../lib/errors.ts";
import { failpoint } from "../lib/failpoint.ts";
import { stringifyJson } from "../lib/json-text.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { asUnavailable, type RedisClient } from "../store/connections/redis.ts";
import { type Pushed, type QueueBounds, type RunQueue, UNBOUNDED } from "../store/runs/run-queue.ts";
import { defineQueue, enqueue, jobState, type Queues } from "./define-queue.ts";
import type { RunItem } from "./run-item.ts";

const SourceJob = Type.Object({
  source_id: Type.String(),
  /** The source's owner; without it the source has turns of its own. */
  account_id: Type.Optional(Type.String()),
});
export type SourceJob = Static<typeof SourceJob>;

const Notify = Type.Object({
  ...SourceJob.properties,
  /** Name of the notification (`RunQueue.notification`); jobs of older versions have none. */
  notification: Type.Optional(Type.String()),
});

/** The job's id: while it waits, the same notification adds no other. */
const notifyJobId = ({ source_id, notification }: Static<typeof Notify>): string =>
  `${source_id}-${notification ?? ""}`;
const ofSource = ({ source_id }: SourceJob) => source_id;
const charge = ({ account_id, source_id }: SourceJob) => ({ account: account_id ?? source_id, cost: 1 });

/**
 * Jobs about a source. The runs themselves wait in the source's run queue and not here, because the runs of one source are
 * serial over all workers (docs/decisions/0002-runs-of-a-source.md).
 */
export const runs = defineQueue({
  name: "runs",
  concurrency: 32,
  // A job runs for up to a second or for as long as one run, so few of them are a turn.
  quantum: 8,
  options: {
    // The run queue keeps the work and the sweep finds a notify job that failed, so a few attempts are enough.
    attempts: 5,
    backoff: { type: "exponential", delay: 1000, jitter: 0.5 },
    // A kept notify job would swallow the next `add` of the same notification.
    removeOnComplete: true,
    removeOnFail: { age: 7 * 86_400, count: 1000 },
  },
  jobs: {
    /** Runs wait in the source's run queue. */
    notify: { schema: Notify, jobId: notifyJobId, charge, shardBy: ofSource },
    /** A timer is due; made by a job scheduler. */
    tick: { schema: SourceJob, charge, shardBy: ofSource },
  },
});

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
