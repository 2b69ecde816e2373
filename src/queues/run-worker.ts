import { Ajv, type ValidateFunction } from "ajv";
import { DelayedError, type Job, UnrecoverableError, Worker } from "bullmq";
import type { Logger } from "pino";
import type { Static, TSchema } from "typebox";
import { settlesWithin } from "../lib/deadline.ts";
import { AppError, type ErrorCode } from "../lib/errors.ts";
import { warnThrottled } from "../lib/warn-throttled.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { RedisClient } from "../store/redis.ts";
import type { QueueDeclaration } from "./define-queue.ts";
import { queuePrefix } from "./open-queues.ts";
import { Snooze } from "./snooze.ts";

/** What a handler receives: the validated payload and facts about its job. */
export interface JobContext<Payload> {
  job: Payload;
  jobId: string;
  /** How many times the job was started, this time included; above 1, an earlier start may have done part of it. */
  attemptsStarted: number;
  /** Unix milliseconds at which the job was due. */
  dueAtMs: number;
  log: Logger;
  /** Aborted when the worker must stop at once. */
  signal: AbortSignal;
  /** Replaces the stored payload, for the next time the job starts. */
  updateJob: (job: Payload) => Promise<void>;
  /** True once the worker is stopping: a handler with more work returns the rest. */
  isStopping: () => boolean;
}

/** Fields of the job's one log line. */
export type JobFields = Record<string, unknown> | undefined;

/** One handler for each kind of job on the queue. */
export type JobHandlers<Schemas extends Record<string, TSchema>> = {
  [Name in keyof Schemas]: (context: JobContext<Static<Schemas[Name]>>) => Promise<JobFields>;
};

export interface WorkerOptions {
  redis: RedisClient;
  prefix: string;
  concurrency: number;
  /** Milliseconds after which the jobs of a killed worker are given to another. */
  stalledAfterMs: number;
  log: Logger;
  metrics: Metrics;
}

export interface RunningWorker {
  ready(): Promise<void>;
  /** Takes no new jobs and waits for running ones; after `deadlineMs` it cancels them, and another worker repeats them. */
  close(deadlineMs: number): Promise<void>;
}

/** How long a cancelled handler may take to return its work. */
const CANCEL_MS = 1500;

type Verdict = "done" | "failed" | "retried" | "snoozed";

/** What an expected error means for its job. Any other error is retried by the queue's back-off. */
const VERDICTS: Partial<Record<ErrorCode, Verdict>> = {
  // Not the job's fault: it uses up no attempt, so that no outage, however long, fails a job.
  unavailable: "snoozed",
  invalid: "failed",
  unauthenticated: "failed",
  forbidden: "failed",
  "limit-reached": "failed",
  "too-large": "failed",
  "not-found": "done",
  conflict: "done",
};

/** Pauses between checks whether a store is back: short at first, and never so long that its return goes unnoticed. */
const SNOOZE_MS = { first: 500, most: 15_000 };

/** A Redis that rejects commands because it is full would otherwise be asked again in a hot loop. */
const PAUSE_MS = 1000;

const ajv = new Ajv({ strict: false });

interface Handled {
  validate: ValidateFunction;
  handle: (context: JobContext<never>) => Promise<JobFields>;
}

/** Consumes a queue: validates each payload, calls the handler of its kind, logs one line a job and maps errors. */
export function runWorker<Schemas extends Record<string, TSchema>>(
  queue: QueueDeclaration<Schemas>,
  handlers: JobHandlers<Schemas>,
  options: WorkerOptions,
): RunningWorker {
  const handled = new Map<string, Handled>();
  for (const { name, schema } of Object.values(queue.jobs)) {
    handled.set(name, {
      validate: ajv.compile(schema),
      handle: handlers[name] as unknown as Handled["handle"],
    });
  }
  return new QueueWorker(queue.name, handled, options);
}

class QueueWorker implements RunningWorker {
  readonly #queue: string;
  readonly #handled: ReadonlyMap<string, Handled>;
  readonly #options: WorkerOptions;
  readonly #worker: Worker;
  readonly #running = new Map<string, { done: Promise<void>; cancel: AbortController }>();
  readonly #warn: (error: unknown) => void;
  #isStopping = false;
  #isPaused = false;

  constructor(queue: string, handled: ReadonlyMap<string, Handled>, options: WorkerOptions) {
    this.#queue = queue;
    this.#handled = handled;
    this.#options = options;
    this.#warn = warnThrottled(options.log, "worker connection", { queue });
    this.#worker = new Worker(queue, (job, token, signal) => this.#process(job, token, signal), {
      connection: options.redis,
      prefix: queuePrefix(options.prefix, queue),
      concurrency: options.concurrency,
      lockDuration: options.stalledAfterMs,
      stalledInterval: Math.max(1000, Math.floor(options.stalledAfterMs / 2)),
      // Handlers can be repeated without harm, so a job may be restarted as often as workers are killed under it.
      maxStalledCount: 1000,
    });
    this.#worker.on("error", error => {
      this.#warn(error);
      if (error instanceof AppError) this.#pause().catch(this.#warn);
    });
    this.#worker.on("stalled", jobId =>
      options.log.warn({ queue, job_id: jobId }, "job stalled, started again"),
    );
  }

  async ready(): Promise<void> {
    await this.#worker.waitUntilReady();
  }

  async close(deadlineMs: number): Promise<void> {
    this.#isStopping = true;
    const closing = this.#worker.close();
    if (await settlesWithin(closing, deadlineMs)) return;
    this.#worker.cancelAllJobs("shutting down");
    // What still has not ended by then stalls, and another worker repeats it.
    await settlesWithin(closing, CANCEL_MS);
  }

  async #process(job: Job, token?: string, signal?: AbortSignal): Promise<void> {
    try {
      await this.#join(job, signal);
    } catch (error) {
      const delayMs = snoozeMs(error, job);
      if (delayMs === null) throw error;
      await job.moveToDelayed(Date.now() + delayMs, token);
      throw new DelayedError();
    }
  }

  /**
   * Makes a job that is started again while this process still runs it join the execution in progress: its lock expired
   * because Redis was away or the process hung, and two executions of one job would disturb each other.
   */
  #join(job: Job, signal?: AbortSignal): Promise<void> {
    const id = job.id ?? "";
    let running = this.#running.get(id);
    if (!running) {
      const cancel = new AbortController();
      const done = this.#run(job, cancel.signal).finally(() => this.#running.delete(id));
      running = { cancel, done };
      this.#running.set(id, running);
    }
    const { cancel, done } = running;
    const onAbort = () =>
      cancel.abort(new AppError("unavailable", "the worker is stopping; another one repeats the job"));
    signal?.addEventListener("abort", onAbort, { once: true });
    return done;
  }

  async #run(job: Job, signal: AbortSignal): Promise<void> {
    const log = this.#options.log.child({ queue: this.#queue, job: job.name, job_id: job.id });
    // A producer of ours names its jobs; any other name would become a label of somebody else's making.
    const kind = this.#handled.has(job.name) ? job.name : "other";
    const startedAt = performance.now();
    const finish = (outcome: string, fields: Record<string, unknown>, level: "info" | "warn" | "error") => {
      const { metrics } = this.#options;
      const ms = performance.now() - startedAt;
      metrics.count("jobs_total", { queue: this.#queue, job: kind, outcome });
      metrics.observe("job_duration_seconds", ms / 1000, { queue: this.#queue, job: kind });
      log[level]({ ...fields, outcome, ms: Math.round(ms), attempt: job.attemptsMade + 1 }, "job");
    };
    try {
      const { validate, handle } = this.#handlerOf(job);
      checkPayload(validate, job.data);
      const fields = await handle({
        job: job.data as never,
        jobId: job.id ?? "",
        attemptsStarted: job.attemptsStarted,
        dueAtMs: job.timestamp + (job.opts.delay ?? 0),
        log,
        signal,
        updateJob: payload => job.updateData(payload),
        isStopping: () => this.#isStopping,
      });
      finish("done", fields ?? {}, "info");
    } catch (error) {
      if (error instanceof Snooze) {
        finish("snoozed", error.fields, "info");
        throw error;
      }
      const verdict = error instanceof AppError ? (VERDICTS[error.code] ?? "retried") : "retried";
      const isLast = verdict === "retried" && job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
      if (verdict === "done") return finish((error as AppError).code, {}, "info");
      finish(verdict, { err: error }, verdict === "failed" || isLast ? "error" : "warn");
      if (verdict === "failed") throw new UnrecoverableError((error as Error).message);
      throw error;
    }
  }

  /** The only handler of a queue with one kind of job takes jobs of any name: producers of others name them freely. */
  #handlerOf(job: Job): Handled {
    const [only] = this.#handled.values();
    const handled = this.#handled.size === 1 ? only : this.#handled.get(job.name);
    if (!handled) throw new AppError("invalid", `queue ${this.#queue} has no jobs named ${job.name}`);
    return handled;
  }

  async #pause(): Promise<void> {
    if (this.#isPaused || this.#isStopping) return;
    this.#isPaused = true;
    await this.#worker.pause(true);
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
    this.#isPaused = false;
    if (!this.#isStopping) await this.#worker.resume();
  }
}

function checkPayload(validate: ValidateFunction, payload: unknown): void {
  if (validate(payload)) return;
  // The error of an `if` says only which of its branches failed.
  const errors = (validate.errors ?? []).filter(error => error.keyword !== "if");
  const fields = errors.map(error => ({
    in: "job" as const,
    path: error.instancePath.slice(1).replaceAll("/", "."),
    message: error.message ?? "is invalid",
  }));
  const listed = fields.map(({ path, message }) => `${path} ${message}`.trim()).join(", ");
  throw new AppError("invalid", `job payload: ${listed}`, { fields });
}

/** How long a job that comes back waits, in milliseconds; null for one that failed. */
function snoozeMs(error: unknown, job: Job): number | null {
  if (error instanceof Snooze) return error.delayMs;
  if (!(error instanceof AppError) || VERDICTS[error.code] !== "snoozed") return null;
  const { first, most } = SNOOZE_MS;
  const ms = Math.min(first * 2 ** Math.min(job.attemptsStarted - 1, 10), most);
  // Spread, so that not all jobs come back at once.
  return ms * (0.5 + Math.random() / 2);
}
