import type { Job, JobsOptions, Queue } from "bullmq";
import type { Static, TSchema } from "typebox";
import { groupBy } from "../lib/lists.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { asUnavailable, type RedisClient } from "../store/connections/redis.ts";
import { type Charge, type FairOrder, PRIORITY_WHEN_DUE } from "./fair-order.ts";
import { type Sharding, shardFor, shardsOf } from "./shards.ts";
import { type JobState, StoredJobs } from "./stored-jobs.ts";

/** BullMQ's `removeOnFail` of a queue whose jobs hold events. */
export const FAILED_JOBS_KEPT = { age: 7 * 86_400, count: LIMITS.failedJobs.value };

/** One kind of job: its name, payload and identity. Producers and the worker import this, never each other. */
interface JobDeclaration<Schema extends TSchema = TSchema> {
  /** The queue's name. */
  queue: string;
  name: string;
  schema: Schema;
  options: JobsOptions;
  /**
   * Versions of the payload (docs/decisions/0033-schema-and-job-versions.md). `reads`: the newest that the handler knows. `writes`: the
   * one that is enqueued, never newer than what the release before reads; 0 for a kind that the release before does not know yet,
   * which nothing enqueues.
   */
  reads: number;
  writes: number;
  /** The job's identity, if it has one: while a job is stored under it, adding another does nothing. */
  jobId?: ((payload: Static<Schema>) => string | undefined) | undefined;
  /** What a job that was given up keeps of a large payload, without the events in it. */
  keptPayload?: ((payload: Static<Schema>) => unknown) | undefined;
  /** Whose job it is and what it costs; absent on a queue that serves jobs in order of arrival. */
  charge?: ((payload: Static<Schema>) => Charge) | undefined;
  /** What decides on which shard of the queue the job is; absent on a queue that has no more than one. */
  shardBy?: ((payload: Static<Schema>) => string) | undefined;
}

type JobSchemas = Record<string, TSchema>;
// biome-ignore lint/suspicious/noExplicitAny: a list of queues holds jobs of any payload
type AnyJob = JobDeclaration<any>;

/** A queue and the kinds of jobs it carries. */
export interface QueueDeclaration<Schemas extends JobSchemas = JobSchemas> {
  name: string;
  /** Jobs that one worker process handles at once, unless its entry of `CONCURRENCY` says otherwise; absent: no worker of ours. */
  concurrency?: number | undefined;
  /** The cost of the jobs that an account may have served before it is another's turn; absent: in order of arrival. */
  quantum?: number | undefined;
  /** True if its jobs wait for the stores alone, so that the time they take is what they cost others. */
  waitsForStoresOnly?: boolean | undefined;
  /** Reads the payload of its jobs from JSON; absent: all of it is parsed. */
  readPayload?: ((json: string) => unknown) | undefined;
  jobs: { [Name in keyof Schemas]: JobDeclaration<Schemas[Name]> };
}

export type AnyQueue = Pick<QueueDeclaration, "name" | "concurrency" | "quantum"> & {
  jobs: Record<string, AnyJob>;
};

/** A queue of BullMQ's with the order in which it serves accounts, if it does, and its shards, if it may have several. */
export type OpenQueue = Queue & { order?: FairOrder; sharding?: Sharding };

/** BullMQ's queues by name, opened by the platform; each shard is one. */
export type Queues = ReadonlyMap<string, OpenQueue>;

export interface EnqueueOptions {
  delayMs?: number;
}

interface QueueSpec<Schemas extends JobSchemas> {
  name: string;
  concurrency?: number;
  quantum?: number;
  waitsForStoresOnly?: boolean;
  readPayload?: (json: string) => unknown;
  /** BullMQ's options for every job of the queue. */
  options: JobsOptions;
  jobs: {
    [Name in keyof Schemas]: Pick<
      JobDeclaration<Schemas[Name]>,
      "schema" | "jobId" | "keptPayload" | "charge" | "shardBy"
    > &
      Partial<Pick<JobDeclaration, "reads" | "writes">>;
  };
}

export function defineQueue<Schemas extends JobSchemas>({
  name,
  concurrency,
  quantum,
  waitsForStoresOnly,
  readPayload,
  options,
  jobs,
}: QueueSpec<Schemas>): QueueDeclaration<Schemas> {
  const declared = Object.entries(jobs).map(([job, declaration]) => [
    job,
    { reads: 1, writes: 1, ...declaration, queue: name, name: job, options },
  ]);
  return { name, concurrency, quantum, waitsForStoresOnly, readPayload, jobs: Object.fromEntries(declared) };
}

/** True if the jobs of a queue may be divided over shards. */
export const isSharded = ({ jobs }: AnyQueue): boolean =>
  Object.values(jobs).every(({ shardBy }) => shardBy !== undefined);

/** Returns the opened queue of that name, which is its first shard. Throws if it is missing from queues/index.ts, which is a wiring mistake. */
export function openedQueue(queues: Queues, { name }: { name: string }): OpenQueue {
  const queue = queues.get(name);
  if (!queue) throw new Error(`queue ${name} is not open: is it in queues/index.ts?`);
  return queue;
}

/**
 * Adds one job to its queue. Throws `unavailable` if Redis can't be reached; then nothing was enqueued. Any other error is
 * about the payload, such as one that is nested too deeply to be written as JSON, and a later try would fail with it again.
 */
export async function enqueue<Schema extends TSchema>(
  queues: Queues,
  job: JobDeclaration<Schema>,
  payload: Static<Schema>,
  options: EnqueueOptions = {},
): Promise<void> {
  await enqueueAll(queues, job, [payload], options);
}

/**
 * Adds many jobs of one kind, those of one shard in one round trip. Throws as `enqueue` does; if one can't be written as
 * JSON, none of its shard was added.
 */
export async function enqueueAll<Schema extends TSchema>(
  queues: Queues,
  job: JobDeclaration<Schema>,
  payloads: Static<Schema>[],
  options: EnqueueOptions = {},
): Promise<void> {
  if (payloads.length === 0) return;
  if (job.writes === 0)
    throw new Error(`no release before this one knows ${job.name} jobs: they are only read`);
  const queue = openedQueue(queues, { name: job.queue });
  const { shardBy } = job;
  if (shardsOf(queue).length === 1 || !shardBy) return await addAll(queue, job, payloads, options);
  const byShard = groupBy(payloads, payload => shardFor(queue, shardBy(payload)).name);
  await Promise.all(
    [...byShard].map(([name, some]) => addAll(openedQueue(queues, { name }), job, some, options)),
  );
}

async function addAll<Schema extends TSchema>(
  queue: OpenQueue,
  job: JobDeclaration<Schema>,
  payloads: Static<Schema>[],
  options: EnqueueOptions,
): Promise<void> {
  try {
    const priorities = await prioritiesOf(queue, job, payloads, options);
    const ids = payloads.map(data => job.jobId?.(data));
    const jobs = payloads.map((data, i) => ({
      name: job.name,
      data,
      opts: {
        ...job.options,
        ...ofVersion(job.writes),
        ...(ids[i] !== undefined && { jobId: ids[i] }),
        ...(options.delayMs && { delay: options.delayMs }),
        ...(priorities[i] && { priority: priorities[i] }),
        ...(job.charge && ofAccount(job.charge(data).account)),
      },
    }));
    const [first] = jobs;
    // A single `add` costs half as much as a bulk of one, which is a transaction.
    if (jobs.length === 1 && first) await queue.add(first.name, first.data, first.opts);
    else await queue.addBulk(jobs);
  } catch (error) {
    throw asUnavailable(error);
  }
}

/**
 * The option by which a job's account is found without reading its payload (src/store/lua/pull-other.lua). BullMQ keeps
 * options that it doesn't know.
 */
export const ofAccount = (account: string): JobsOptions => ({ account }) as JobsOptions;

/**
 * The option with the version of a job's payload. An option, because payloads are replaced and are partly public; BullMQ keeps
 * options that it doesn't know.
 */
export const ofVersion = (v: number): JobsOptions => ({ v }) as JobsOptions;

/** Returns the version of a job's payload: the first for one of an early release, or of another producer. */
const versionIn = (options: JobsOptions): number => {
  const { v } = options as { v?: unknown };
  return typeof v === "number" ? v : 1;
};

/** Returns the account in a job's options; undefined for a job that another producer enqueued. */
export const accountIn = (options: JobsOptions): string | undefined =>
  (options as { account?: string }).account;

/** Returns BullMQ's priority of each job: by whose turn it is, or, for one that is delayed, once it is due. */
async function prioritiesOf<Schema extends TSchema>(
  { order }: OpenQueue,
  { charge }: JobDeclaration<Schema>,
  payloads: Static<Schema>[],
  { delayMs }: EnqueueOptions,
): Promise<number[]> {
  if (!order || !charge) return [];
  if (delayMs) return payloads.map(() => PRIORITY_WHEN_DUE);
  return await order.prioritiesOf(payloads.map(charge));
}

/** Looks up whether a job is still on its queue. Throws `unavailable`. */
export async function jobState(
  platform: { queues: Queues; redis: RedisClient },
  queue: { name: string },
  jobId: string,
): Promise<JobState> {
  const [state = "absent"] = await jobStates(platform, queue, [jobId]);
  return state;
}

/**
 * As `jobState`, for many jobs in one round trip. Looks at every shard, because the number may have grown since
 * a job was enqueued.
 */
export async function jobStates(
  platform: { queues: Queues; redis: RedisClient },
  queue: { name: string },
  jobIds: string[],
): Promise<JobState[]> {
  const shards = shardsOf(openedQueue(platform.queues, queue));
  const stored = shards.map(shard => new StoredJobs(platform.redis, shard));
  return await Promise.all(
    jobIds.map(async jobId => {
      const states = await Promise.all(stored.map(jobs => jobs.state(jobId)));
      return STATES.find(state => states.includes(state)) ?? "absent";
    }),
  );
}

/** What counts of a job that two shards hold, because it was enqueued again when the number had grown. */
const STATES: readonly JobState[] = ["live", "finished"];

type Declared = Pick<AnyQueue, "name"> & { jobs: Record<string, Pick<JobDeclaration, "reads">> };

/**
 * Returns what this release does not know of a job, which a newer one enqueued; undefined for a job that it can handle. The only
 * kind of a queue has jobs of any name, because producers of others name them freely.
 */
export function whatIsNewer({ name, jobs }: Declared, job: Pick<Job, "name" | "opts">): string | undefined {
  const kinds = Object.keys(jobs);
  const kind = kinds.length === 1 ? (kinds[0] ?? "") : job.name;
  const declared = Object.hasOwn(jobs, kind) ? jobs[kind] : undefined;
  if (!declared) return `this release has no jobs named ${job.name} on queue ${name}`;
  const v = versionIn(job.opts);
  return v > declared.reads ? `version ${v} of ${kind} is newer than ${declared.reads}` : undefined;
}
