import { type Job, UnrecoverableError } from "bullmq";
import type { Logger } from "pino";
import { AppError } from "../lib/errors.ts";
import { stringifyJson } from "../lib/json-text.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { JobKinds } from "./job-kinds.ts";
import type { StoredJobs } from "./stored-jobs.ts";
import { Snooze, verdictOf } from "./verdicts.ts";

/** A larger payload of a failed job is replaced by its `keptPayload`. */
const MAX_KEPT_BYTES = LIMITS.failedJobBytes.value;

export interface JobRunnerOptions {
  queue: string;
  shard: number;
  kinds: JobKinds;
  stored: StoredJobs;
  log: Logger;
  metrics: Metrics;
  /** Called with the payload of each job that failed for good; it may have any shape. */
  onGivenUp?: ((payload: unknown) => Promise<void>) | undefined;
}

/** Calls the handlers of jobs, one log line a job, and maps their errors to what BullMQ does next. */
export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #running = new Map<string, { done: Promise<void>; cancel: AbortController }>();
  #isStopping = false;

  constructor(options: JobRunnerOptions) {
    this.#options = options;
  }

  /** From now on handlers return the work that they have not begun. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Whether this process still runs the job. */
  runs(job: Job): boolean {
    return this.#running.has(job.id ?? "");
  }

  /**
   * Runs a job until its handler is done. A job that is started again while this process still runs it joins the execution in
   * progress: its lock expired because Redis was away or the process hung, and two executions of one job would disturb each
   * other. Throws what the worker of BullMQ is to do: UnrecoverableError for a job that failed for good, else the error.
   */
  run(job: Job, signal?: AbortSignal): Promise<void> {
    const id = job.id ?? "";
    let running = this.#running.get(id);
    if (!running) {
      const cancel = new AbortController();
      const done = this.#execute(job, cancel.signal).finally(() => this.#running.delete(id));
      running = { cancel, done };
      this.#running.set(id, running);
    }
    const { cancel, done } = running;
    const onAbort = () =>
      cancel.abort(new AppError("unavailable", "the worker is stopping; another one repeats the job"));
    signal?.addEventListener("abort", onAbort, { once: true });
    return done;
  }

  async #execute(job: Job, signal: AbortSignal): Promise<void> {
    const { queue, shard, kinds, metrics } = this.#options;
    const log = this.#options.log.child({ queue, job: job.name, job_id: job.id });
    const label = kinds.labelOf(job);
    const startedAt = performance.now();
    const finish = (outcome: string, fields: Record<string, unknown>, level: "info" | "warn" | "error") => {
      const ms = performance.now() - startedAt;
      metrics.count("jobs_total", { queue, job: label, outcome });
      metrics.observe("job_duration_seconds", ms / 1000, { queue, job: label });
      log[level]({ ...fields, outcome, ms: Math.round(ms), attempt: job.attemptsMade + 1 }, "job");
    };
    try {
      const kind = kinds.kindOf(job);
      kind.check(job.data);
      const fields = await kind.handle({
        job: job.data as never,
        jobId: job.id ?? "",
        shard,
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
  async giveUp(job: Job): Promise<void> {
    const { queue, kinds, log, metrics, onGivenUp } = this.#options;
    const { name, id, attemptsStarted: starts, failedReason: reason } = job;
    log.error({ queue, job: name, job_id: id, starts, reason }, "job given up");
    metrics.count("jobs_given_up_total", { queue });
    await onGivenUp?.(job.data);
    const { keptPayload } = kinds.kindOf(job);
    if (!keptPayload || stringifyJson(job.data).length <= MAX_KEPT_BYTES) return;
    await this.#replacePayload(job, keptPayload(job.data as never));
  }

  async #replacePayload(job: Job, payload: unknown): Promise<void> {
    job.data = payload;
    await this.#options.stored.replacePayload(job.id ?? "", payload);
  }
}
