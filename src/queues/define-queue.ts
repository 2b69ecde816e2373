import type { JobsOptions, Queue } from "bullmq";
import type { Static, TSchema } from "typebox";
import { AppError } from "../lib/errors.ts";

/** Name, payload and options of a queue in one value; producers and its worker import this, never each other. */
export interface QueueDeclaration<Schema extends TSchema = TSchema> {
  name: string;
  schema: Schema;
  options: JobsOptions;
  /** The job's identity; a job that is still stored under it makes another `add` do nothing. */
  jobId?: (job: Static<Schema>) => string;
}

/** BullMQ's queues by name, opened by the platform. */
export type Queues = ReadonlyMap<string, Queue>;

export interface EnqueueOptions {
  delayMs?: number;
  /** Before all that wait. */
  first?: boolean;
}

export function defineQueue<Schema extends TSchema>(
  declaration: QueueDeclaration<Schema>,
): QueueDeclaration<Schema> {
  return declaration;
}

/** The opened queue of a declaration; throws when it is not in `queues/index` (a wiring mistake, so never in silence). */
export function openedQueue(queues: Queues, declaration: QueueDeclaration): Queue {
  const queue = queues.get(declaration.name);
  if (!queue) throw new Error(`queue ${declaration.name} is not open: is it in queues/index.ts?`);
  return queue;
}

/** Puts one job on a queue. Throws `unavailable` when Redis can't take it; nothing is enqueued then. */
export async function enqueue<Schema extends TSchema>(
  queues: Queues,
  declaration: QueueDeclaration<Schema>,
  job: Static<Schema>,
  options: EnqueueOptions = {},
): Promise<void> {
  await enqueueAll(queues, declaration, [job], options);
}

/** Puts many jobs on a queue in one round trip, all or none. Throws as `enqueue` does. */
export async function enqueueAll<Schema extends TSchema>(
  queues: Queues,
  declaration: QueueDeclaration<Schema>,
  jobs: Static<Schema>[],
  options: EnqueueOptions = {},
): Promise<void> {
  if (jobs.length === 0) return;
  const queue = openedQueue(queues, declaration);
  const opts = (job: Static<Schema>): JobsOptions => ({
    ...declaration.options,
    ...(declaration.jobId && { jobId: declaration.jobId(job) }),
    ...(options.delayMs && { delay: options.delayMs }),
    ...(options.first && { lifo: true }),
  });
  const added = jobs.map(job => ({ name: declaration.name, data: job, opts: opts(job) }));
  const [first] = added;
  try {
    // One alone costs half of what a bulk of one does, which is a transaction.
    if (added.length === 1 && first) await queue.add(first.name, first.data, first.opts);
    else await queue.addBulk(added);
  } catch (error) {
    throw new AppError("unavailable", "the queue can't be reached", { cause: error, retryAfterMs: 1000 });
  }
}

/** True while a job is on its queue and has not ended: neither done nor given up. */
export async function isAlive(
  queues: Queues,
  declaration: QueueDeclaration,
  jobId: string,
): Promise<boolean> {
  const job = await openedQueue(queues, declaration).getJob(jobId);
  return job !== undefined && !job.finishedOn;
}
