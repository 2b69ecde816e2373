import { setTimeout as delay } from "node:timers/promises";
import { DelayedError, type Job, WaitingError, type Worker } from "bullmq";
import type { Logger } from "pino";
import type { TSchema } from "typebox";
import { AppError } from "../lib/errors.ts";
import { warnThrottled } from "../lib/logger.ts";
import { settlesWithin } from "../lib/time.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { RedisClient } from "../store/connections/redis.ts";
import { leanBackend, workerReading } from "./backend.ts";
import { type AnyQueue, type QueueDeclaration, whatIsNewer } from "./define-queue.ts";
import { FairStart } from "./fair-start.ts";
import { HeldLocks } from "./held-locks.ts";
import { type JobHandlers, JobKinds } from "./job-kinds.ts";
import { JobRunner } from "./job-runner.ts";
import { queuePrefix } from "./open-queues.ts";
import { type ConsumedShards, ShardedWorker, type ShardWorker } from "./sharded-worker.ts";
import { shardName } from "./shards.ts";
import { StoredJobs } from "./stored-jobs.ts";
import { NEWER_MS, pauseMs, snoozeMs } from "./verdicts.ts";

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

/** Consumes a queue: validates each payload, calls the handler of its kind, logs one line a job and maps errors. */
export function runWorker<Schemas extends Record<string, TSchema>>(
  queue: QueueDeclaration<Schemas>,
  handlers: JobHandlers<Schemas>,
  options: WorkerOptions,
): PausableWorker {
  const kinds = JobKinds.of(queue, handlers);
  const { concurrency, shards } = options;
  const open = (shard: number, slots: number) => new QueueWorker({ queue, shard, slots }, kinds, options);
  return shards ? new ShardedWorker(open, concurrency, shards) : open(0, concurrency);
}

type QueueFacts = Pick<QueueDeclaration, "name" | "quantum" | "waitsForStoresOnly" | "readPayload"> &
  Pick<AnyQueue, "jobs">;

/** Consumes one shard of a queue. */
class QueueWorker implements ShardWorker {
  readonly #queue: string;
  readonly #jobs: AnyQueue["jobs"];
  readonly #kinds: JobKinds;
  readonly #metrics: Metrics;
  readonly #worker: Worker;
  readonly #runner: JobRunner;
  readonly #warn: (error: unknown) => void;
  readonly #warnOfNewer: (error: unknown) => void;
  /** Absent on a queue that serves jobs in order of arrival. */
  readonly #fair: FairStart | undefined;
  /** Of jobs that were fetched and are not done. */
  readonly #locks: HeldLocks;
  #isStopping = false;
  #isPaused = false;
  /** True between `pause` and `resume`. */
  #isHeld = false;

  constructor(
    { queue, shard, slots }: { queue: QueueFacts; shard: number; slots: number },
    kinds: JobKinds,
    { redis, prefix, stalledAfterMs, log: ofProcess, metrics, onGivenUp }: WorkerOptions,
  ) {
    const log = shard === 0 ? ofProcess : ofProcess.child({ shard });
    this.#queue = queue.name;
    this.#jobs = queue.jobs;
    this.#kinds = kinds;
    this.#metrics = metrics;
    this.#warn = warnThrottled(log, "worker connection", { queue: queue.name });
    this.#warnOfNewer = warnThrottled(log, "jobs of a newer release wait for its workers", {
      queue: queue.name,
    });
    const name = shardName(queue.name, shard);
    this.#worker = new (workerReading(queue.readPayload))(
      name,
      (job, token, signal) => this.#hold(job, token, signal),
      {
        connection: redis,
        prefix: queuePrefix(prefix, name),
        concurrency: slots,
        lockDuration: stalledAfterMs,
        skipLockRenewal: true,
        stalledInterval: Math.max(1000, Math.floor(stalledAfterMs / 2)),
        // A job that crashes its worker must not go on to crash all of them: its first start and this many more.
        maxStalledCount: LIMITS.jobStarts.value - 1,
      },
      leanBackend(redis, stalledAfterMs),
    );
    const stored = new StoredJobs(redis, this.#worker);
    this.#runner = new JobRunner({ queue: queue.name, shard, kinds, stored, log, metrics, onGivenUp });
    this.#locks = new HeldLocks(
      stalledAfterMs,
      (ids, tokens, durationMs) => this.#worker.extendJobLocks(ids, tokens, durationMs),
      this.#warn,
    );
    if (queue.quantum) this.#fair = new FairStart(queue, queue.quantum, slots, { stored, metrics });
    this.#worker.on("error", error => {
      this.#warn(error);
      if (error instanceof AppError) this.#pause().catch(this.#warn);
    });
    this.#worker.on("failed", job => {
      // Also emitted for an attempt that another one will follow.
      if (job?.finishedOn) this.#runner.giveUp(job).catch(this.#warn);
    });
    this.#worker.on("stalled", jobId =>
      log.warn({ queue: queue.name, job_id: jobId }, "job stalled, started again"),
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
    this.#fair?.resize(slots, shards);
  }

  async ready(): Promise<void> {
    await this.#worker.waitUntilReady();
  }

  async close(deadlineMs: number): Promise<void> {
    this.#isStopping = true;
    this.#runner.stop();
    this.#fair?.close();
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
      await this.#start(job, token, signal);
    } catch (error) {
      if (error instanceof WaitingError) throw error;
      const leaving = this.#fair?.leaveTurn(job);
      const delayMs = snoozeMs(error, job);
      if (delayMs === null) {
        await leaving;
        throw error;
      }
      await Promise.all([leaving, job.moveToDelayed(Date.now() + delayMs, token)]);
      throw new DelayedError();
    }
  }

  /** Runs the job, in a slot of its account if the queue is fair; one that this process still runs needs no slot of its own. */
  async #start(job: Job, token?: string, signal?: AbortSignal): Promise<void> {
    const run = () => this.#runner.run(job, signal);
    const charge = this.#kinds.chargeOf(job);
    if (!this.#fair || !charge || this.#runner.runs(job)) return await run();
    await this.#fair.inSlot(job, token, charge, run);
  }

  /** Lets a job of a newer release come back until one of its workers gets it. It uses up no attempt. */
  async #leaveToNewer(job: Job, token: string | undefined, newer: string): Promise<never> {
    const label = this.#kinds.labelOf(job);
    this.#metrics.count("jobs_total", { queue: this.#queue, job: label, outcome: "newer" });
    this.#warnOfNewer(new Error(newer));
    // For the board.
    if (job.attemptsStarted <= 1) await job.log(`waits for a worker of a newer release: ${newer}`);
    await this.#fair?.leaveTurn(job);
    await job.moveToDelayed(Date.now() + pauseMs(NEWER_MS, job), token);
    throw new DelayedError();
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
