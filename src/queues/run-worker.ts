import { setTimeout as delay } from "node:timers/promises";
import type { ValidateFunction } from "ajv";
import { DelayedError, type Job, UnrecoverableError, WaitingError, type Worker } from "bullmq";
import type { Logger } from "pino";
import type { Static, TSchema } from "typebox";
import { SlotShares } from "../fairness/slot-shares.ts";
import { FairTurns } from "../fairness/turns.ts";
import { AppError } from "../lib/errors.ts";
import { stringifyJson } from "../lib/json-text.ts";
import { warnThrottled } from "../lib/logger.ts";
import { newAjv } from "../lib/schemas.ts";
import { settlesWithin } from "../lib/time.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { RedisClient } from "../store/connections/redis.ts";
import { leanBackend, workerReading } from "./backend.ts";
import { type AnyQueue, accountIn, type QueueDeclaration, whatIsNewer } from "./define-queue.ts";
import { type Charge, FairOrder, FIRST_LATER_PRIORITY, PRIORITY_WHEN_DUE } from "./fair-order.ts";
import { HeldLocks } from "./held-locks.ts";
import { queuePrefix } from "./open-queues.ts";
import { type ConsumedShards, ShardedWorker, type ShardWorker } from "./sharded-worker.ts";
import { shardName } from "./shards.ts";
import { StoredJobs } from "./stored-jobs.ts";
import { NEWER_MS, pauseMs, Snooze, snoozeMs, verdictOf } from "./verdicts.ts";

/** What a handler receives: the validated payload and facts about its job. */
export interface JobContext<Payload> {
  job: Payload;
  jobId: string;
  /** The shard of the queue that the job is on. */
  shard: number;
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
  /** The shards of the queue; absent for a queue with no more than one. */
  shards?: ConsumedShards;
  /** Milliseconds after which the jobs of a killed worker are given to another. */
  stalledAfterMs: number;
  log: Logger;
  metrics: Metrics;
  /** Called with the payload of each job that failed for good; it may have any shape. */
  onGivenUp?: (payload: unknown) => Promise<void>;
}

export interface RunningWorker {
  ready(): Promise<void>;
  /** Takes no new jobs and waits for running ones; after `deadlineMs` it cancels them, and another worker repeats them. */
  close(deadlineMs: number): Promise<void>;
}

export interface PausableWorker extends RunningWorker {
  /** Takes no new jobs until `resume`; running ones go on. */
  pause(): void;
  resume(): void;
}

/** How long a cancelled handler may take to return its work. */
const CANCEL_MS = 1500;

/** A Redis that rejects commands because it is full would otherwise be asked again in a hot loop. */
const PAUSE_MS = 1000;

const ajv = newAjv({ strict: false });

/** A larger payload of a failed job is replaced by its `keptPayload`. */
const MAX_KEPT_BYTES = LIMITS.failedJobBytes.value;

interface Handled {
  validate: ValidateFunction;
  keptPayload: ((payload: never) => unknown) | undefined;
  charge: ((payload: never) => Charge) | undefined;
  handle: (context: JobContext<never>) => Promise<JobFields>;
}

/** Consumes a queue: validates each payload, calls the handler of its kind, logs one line a job and maps errors. */
export function runWorker<Schemas extends Record<string, TSchema>>(
  queue: QueueDeclaration<Schemas>,
  handlers: JobHandlers<Schemas>,
  options: WorkerOptions,
): PausableWorker {
  const handled = new Map<string, Handled>();
  for (const { name, schema, keptPayload, charge } of Object.values(queue.jobs)) {
    handled.set(name, {
      validate: ajv.compile(schema),
      keptPayload: keptPayload as Handled["keptPayload"],
      charge: charge as Handled["charge"],
      handle: handlers[name] as unknown as Handled["handle"],
    });
  }
  const { concurrency, shards } = options;
  const open = (shard: number, slots: number) => new QueueWorker({ queue, shard, slots }, handled, options);
  return shards ? new ShardedWorker(open, concurrency, shards) : open(0, concurrency);
}

class QueueWorker implements ShardWorker {
  readonly #queue: string;
  readonly #jobs: AnyQueue["jobs"];
  readonly #shard: number;
  readonly #log: Logger;
  readonly #handled: ReadonlyMap<string, Handled>;
  readonly #options: WorkerOptions;
  readonly #worker: Worker;
  readonly #stored: StoredJobs;
  readonly #running = new Map<string, { done: Promise<void>; cancel: AbortController }>();
  readonly #warn: (error: unknown) => void;
  readonly #warnOfNewer: (error: unknown) => void;
  /** Absent on a queue that serves jobs in order of arrival. */
  readonly #fair: { order: FairOrder; slots: SlotShares; turns: FairTurns } | undefined;
  #isStopping = false;
  #isPaused = false;
  /** Of jobs that were fetched and are not done. */
  readonly #locks: HeldLocks;
  /** True between `pause` and `resume`. */
  #isHeld = false;

  constructor(
    {
      queue: { name: queue, quantum, waitsForStoresOnly, readPayload, jobs },
      shard,
      slots,
    }: {
      queue: Pick<QueueDeclaration, "name" | "quantum" | "waitsForStoresOnly" | "readPayload"> &
        Pick<AnyQueue, "jobs">;
      shard: number;
      slots: number;
    },
    handled: ReadonlyMap<string, Handled>,
    options: WorkerOptions,
  ) {
    this.#queue = queue;
    this.#jobs = jobs;
    this.#shard = shard;
    this.#log = shard === 0 ? options.log : options.log.child({ shard });
    this.#handled = handled;
    this.#options = options;
    this.#warn = warnThrottled(this.#log, "worker connection", { queue });
    this.#warnOfNewer = warnThrottled(this.#log, "jobs of a newer release wait for its workers", { queue });
    const name = shardName(queue, shard);
    this.#worker = new (workerReading(readPayload))(
      name,
      (job, token, signal) => this.#hold(job, token, signal),
      {
        connection: options.redis,
        prefix: queuePrefix(options.prefix, name),
        concurrency: slots,
        lockDuration: options.stalledAfterMs,
        skipLockRenewal: true,
        stalledInterval: Math.max(1000, Math.floor(options.stalledAfterMs / 2)),
        // A job that crashes its worker must not go on to crash all of them: its first start and this many more.
        maxStalledCount: LIMITS.jobStarts.value - 1,
      },
      leanBackend(options.redis, options.stalledAfterMs),
    );
    this.#stored = new StoredJobs(options.redis, this.#worker);
    this.#locks = new HeldLocks(
      options.stalledAfterMs,
      (ids, tokens, durationMs) => this.#worker.extendJobLocks(ids, tokens, durationMs),
      this.#warn,
    );
    this.#fair = quantum
      ? {
          turns: new FairTurns(),
          order: new FairOrder(this.#stored, quantum),
          slots: new SlotShares(slots, accounts => this.#stored.pullOther(accounts), {
            ...(waitsForStoresOnly && { usedMs: () => performance.now() }),
          }),
        }
      : undefined;
    this.#worker.on("error", error => {
      this.#warn(error);
      if (error instanceof AppError) this.#pause().catch(this.#warn);
    });
    this.#worker.on("failed", job => {
      // Also emitted for an attempt that another one will follow.
      if (job?.finishedOn) this.#giveUp(job).catch(this.#warn);
    });
    this.#worker.on("stalled", jobId =>
      this.#log.warn({ queue, job_id: jobId }, "job stalled, started again"),
    );
  }

  get slots(): number {
    return this.#worker.concurrency;
  }

  get held(): number {
    return this.#locks.count;
  }

  setSlots(slots: number, shards: number): void {
    this.#worker.concurrency = slots;
    this.#fair?.slots.resize(slots, shards);
  }

  async ready(): Promise<void> {
    await this.#worker.waitUntilReady();
  }

  async close(deadlineMs: number): Promise<void> {
    this.#isStopping = true;
    this.#fair?.slots.close();
    const closing = this.#worker.close();
    try {
      if (await settlesWithin(closing, deadlineMs)) return;
      this.#worker.cancelAllJobs("shutting down");
      // What still has not ended by then stalls, and another worker repeats it.
      await settlesWithin(closing, CANCEL_MS);
    } finally {
      this.#locks.close();
    }
  }

  pause(): void {
    this.#isHeld = true;
    this.#worker.pause(true).catch(this.#warn);
  }

  resume(): void {
    this.#isHeld = false;
    if (!this.#isStopping && !this.#isPaused) this.#worker.resume().catch(this.#warn);
  }

  async #hold(job: Job, token?: string, signal?: AbortSignal): Promise<void> {
    const release = this.#locks.hold(job.id ?? "", token ?? "");
    try {
      await this.#process(job, token, signal);
    } finally {
      release();
    }
  }

  async #process(job: Job, token?: string, signal?: AbortSignal): Promise<void> {
    const newer = whatIsNewer({ name: this.#queue, jobs: this.#jobs }, job);
    if (newer !== undefined) return await this.#leaveToNewer(job, token, newer);
    try {
      // A job that this process still runs needs no slot of its own.
      if (this.#running.has(job.id ?? "")) await this.#join(job, signal);
      else await this.#inSlot(job, token, () => this.#join(job, signal));
    } catch (error) {
      if (error instanceof WaitingError) throw error;
      // What its turn is shows when it is due again: all backlogs may have changed by then.
      const whenDue = this.#fair && this.#stored.setPriority(job.id ?? "", PRIORITY_WHEN_DUE);
      const delayMs = snoozeMs(error, job);
      if (delayMs === null) {
        await whenDue;
        throw error;
      }
      await Promise.all([whenDue, job.moveToDelayed(Date.now() + delayMs, token)]);
      throw new DelayedError();
    }
  }

  /** Lets a job of a newer release come back until one of its workers gets it. It uses up no attempt. */
  async #leaveToNewer(job: Job, token: string | undefined, newer: string): Promise<never> {
    const kind = this.#handled.has(job.name) ? job.name : "other";
    this.#options.metrics.count("jobs_total", { queue: this.#queue, job: kind, outcome: "newer" });
    this.#warnOfNewer(new Error(newer));
    // For the board.
    if (job.attemptsStarted <= 1) await job.log(`waits for a worker of a newer release: ${newer}`);
    if (this.#fair) await this.#stored.setPriority(job.id ?? "", PRIORITY_WHEN_DUE);
    await job.moveToDelayed(Date.now() + pauseMs(NEWER_MS, job), token);
    throw new DelayedError();
  }

  /** Does `work` in one of the slots that the job's account may use; requeues the job if it is not its turn. */
  async #inSlot(job: Job, token: string | undefined, work: () => Promise<void>): Promise<void> {
    const charge = this.#chargeOf(job);
    if (!this.#fair || !charge) return await work();
    const { order, slots, turns } = this.#fair;
    const { account, cost } = charge;
    if (!isCharged(job)) {
      const [priority = 0] = await order.prioritiesOf([charge], { isFetched: true });
      if (priority > 0) await this.#requeue(job, token, "turn", priority);
    }
    if (!(await slots.acquire(account, cost))) {
      if (this.#isStopping) await this.#requeue(job, token, "share", job.priority);
      // Behind what its account has waiting, free of charge, and never in front of those whose turn it is.
      const [priority = 0] = await order.prioritiesOf([{ account, cost: 0 }]);
      await this.#requeue(job, token, "share", Math.max(priority, FIRST_LATER_PRIORITY));
    }
    await turns.next(account);
    try {
      await work();
    } finally {
      slots.release(account, cost);
    }
  }

  async #requeue(
    job: Job,
    token: string | undefined,
    reason: "turn" | "share",
    priority: number,
  ): Promise<never> {
    await this.#stored.requeue({ id: job.id ?? "", token: token ?? "", priority });
    this.#options.metrics.count("jobs_requeued_total", { queue: this.#queue, reason });
    throw new WaitingError();
  }

  /** Undefined for a job that is not well-formed: its handler says what is wrong with it. */
  #chargeOf(job: Job): Charge | undefined {
    try {
      return this.#handlerOf(job).charge?.(job.data as never);
    } catch {
      return undefined;
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
    const log = this.#log.child({ queue: this.#queue, job: job.name, job_id: job.id });
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
        shard: this.#shard,
        attemptsStarted: job.attemptsStarted,
        dueAtMs: job.timestamp + (job.opts.delay ?? 0),
        log,
        signal,
        updateJob: payload => this.#replacePayload(job, payload),
        isStopping: () => this.#isStopping,
      });
      finish("done", fields ?? {}, "info");
    } catch (error) {
      if (error instanceof Snooze) {
        finish("snoozed", error.fields, "info");
        throw error;
      }
      const verdict = verdictOf(error);
      const isLast = verdict === "retried" && job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
      if (verdict === "done") return finish((error as AppError).code, {}, "info");
      finish(verdict, { err: error }, verdict === "failed" || isLast ? "error" : "warn");
      if (verdict === "failed") throw new UnrecoverableError((error as Error).message);
      throw error;
    }
  }

  /** Reports a job that failed for good, and removes the events from a large payload: Redis keeps the job for days. */
  async #giveUp(job: Job): Promise<void> {
    const { metrics, onGivenUp } = this.#options;
    const { queue, reason } = { queue: this.#queue, reason: job.failedReason };
    this.#log.error(
      { queue, job: job.name, job_id: job.id, starts: job.attemptsStarted, reason },
      "job given up",
    );
    metrics.count("jobs_given_up_total", { queue });
    await onGivenUp?.(job.data);
    const { keptPayload } = this.#handlerOf(job);
    if (!keptPayload || stringifyJson(job.data).length <= MAX_KEPT_BYTES) return;
    await this.#replacePayload(job, keptPayload(job.data as never));
  }

  async #replacePayload(job: Job, payload: unknown): Promise<void> {
    job.data = payload;
    await this.#stored.replacePayload(job.id ?? "", payload);
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
    await delay(PAUSE_MS);
    this.#isPaused = false;
    if (!this.#isStopping && !this.#isHeld) await this.#worker.resume();
  }
}

/** False for a job that was delayed until now, or was enqueued without the platform's own producers. */
function isCharged({ priority, opts }: Job): boolean {
  if (priority > 0) return priority !== PRIORITY_WHEN_DUE;
  return accountIn(opts) !== undefined;
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
