import { Ajv, type ValidateFunction } from "ajv";
import { DelayedError, type Job, UnrecoverableError, Worker } from "bullmq";
import type { Logger } from "pino";
import type { Static, TSchema } from "typebox";
import { AppError, type ErrorCode } from "../lib/errors.ts";
import { warnSeldom } from "../lib/warn-throttled.ts";
import type { RedisClient } from "../store/redis.ts";
import type { QueueDeclaration } from "./define-queue.ts";
import { queuePrefix } from "./open-queues.ts";
import { Postponed } from "./snooze.ts";

/** What a handler is given: the checked payload, and the job's own facts. */
export interface Work<Payload> {
  job: Payload;
  jobId: string;
  /** How often it was begun, this time included: above 1, an earlier time may have done some of it. */
  begun: number;
  /** Unix milliseconds at which the job was due. */
  dueAtMs: number;
  log: Logger;
  /** Aborted when the worker is told to end at once. */
  signal: AbortSignal;
  /** Replaces what is stored of the job, for the next time it is begun. */
  keep: (job: Payload) => Promise<void>;
  /** True once the worker is to stop: a handler with more to do gives the rest back. */
  stopping: () => boolean;
}

/** Fields for the one log line of the job. */
export type WorkOutcome = Record<string, unknown> | undefined;

export interface WorkerOptions {
  redis: RedisClient;
  prefix: string;
  concurrency: number;
  stalledAfterMs: number;
  log: Logger;
  count: (name: "jobs_total", labels: { queue: string; outcome: string }) => void;
}

export interface RunningWorker {
  ready(): Promise<void>;
  /** Takes no new job and lets the running ones end; after `deadlineMs` it cancels them, to be done again elsewhere. */
  close(deadlineMs: number): Promise<void>;
}

/** What a cancelled handler gets to put its work back. */
const CANCEL_MS = 1500;

type Verdict = "done" | "give-up" | "retry" | "wait";

/** What a refusal means for a job (style.md, "Errors"). All else is retried by the queue's schedule. */
const VERDICTS: Partial<Record<ErrorCode, Verdict>> = {
  // No fault of the job: it uses up no attempt, so that an outage, however long, gives up nothing.
  unavailable: "wait",
  invalid: "give-up",
  unauthenticated: "give-up",
  forbidden: "give-up",
  "too-large": "give-up",
  "not-found": "done",
  conflict: "done",
};

/** Between looks whether a store is back: soon at first, and never so long that its return goes unnoticed. */
const WAIT_MS = { first: 500, most: 15_000 };

/** A Redis that answers "not now" (it is full) would be asked again at once, as often as a processor can. */
const REST_MS = 1000;

const ajv = new Ajv({ strict: false });

function checkPayload(validate: ValidateFunction, payload: unknown): void {
  if (validate(payload)) return;
  // The complaint of an `if` only says which of its branches failed.
  const errors = (validate.errors ?? []).filter(error => error.keyword !== "if");
  const fields = errors.map(error => ({
    in: "job" as const,
    path: error.instancePath.slice(1).replaceAll("/", "."),
    message: error.message ?? "is invalid",
  }));
  throw new AppError("invalid", `job payload: ${fields.map(f => `${f.path} ${f.message}`).join(", ")}`, {
    fields,
  });
}

/** Consumes a queue with `handle`: checks payloads, logs one line a job, turns errors into the queue's answer. */
export function runWorker<Schema extends TSchema>(
  declaration: QueueDeclaration<Schema>,
  handle: (work: Work<Static<Schema>>) => Promise<WorkOutcome>,
  options: WorkerOptions,
): RunningWorker {
  const { name } = declaration;
  const validate = ajv.compile(declaration.schema);

  let isStopping = false;

  const work = async (job: Job, signal: AbortSignal): Promise<void> => {
    const log = options.log.child({ queue: name, job_id: job.id });
    const startedAt = performance.now();
    const finish = (outcome: string, fields: Record<string, unknown>, level: "info" | "warn" | "error") => {
      options.count("jobs_total", { queue: name, outcome });
      log[level](
        { ...fields, outcome, ms: Math.round(performance.now() - startedAt), attempt: job.attemptsMade + 1 },
        "job",
      );
    };
    try {
      checkPayload(validate, job.data);
      const fields = await handle({
        job: job.data as Static<Schema>,
        jobId: job.id ?? "",
        begun: job.attemptsStarted,
        dueAtMs: job.timestamp + (job.opts.delay ?? 0),
        log,
        signal,
        keep: payload => job.updateData(payload),
        stopping: () => isStopping,
      });
      finish("done", fields ?? {}, "info");
    } catch (error) {
      if (error instanceof Postponed) {
        finish("postponed", error.fields, "info");
        throw error;
      }
      const verdict = error instanceof AppError ? (VERDICTS[error.code] ?? "retry") : "retry";
      const last = verdict === "retry" && job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
      if (verdict === "done") return finish((error as AppError).code, {}, "info");
      finish(verdict, { err: error }, verdict === "give-up" || last ? "error" : "warn");
      if (verdict === "give-up") throw new UnrecoverableError((error as Error).message);
      throw error;
    }
  };

  const inHand = joinedById(work);
  const process = async (job: Job, token?: string, signal?: AbortSignal): Promise<void> => {
    try {
      await inHand(job, signal);
    } catch (error) {
      const delayMs = delayOf(error, job);
      if (delayMs === null) throw error;
      await job.moveToDelayed(Date.now() + delayMs, token);
      throw new DelayedError();
    }
  };

  const worker = new Worker(name, process, {
    connection: options.redis,
    prefix: queuePrefix(options.prefix, name),
    concurrency: options.concurrency,
    lockDuration: options.stalledAfterMs,
    stalledInterval: Math.max(1000, Math.floor(options.stalledAfterMs / 2)),
    // Handlers repeat without harm, so a job may be given out as often as workers get killed under it.
    maxStalledCount: 1000,
  });
  const warn = warnSeldom(options.log, "worker connection", { queue: name });
  let isResting = false;
  const rest = async () => {
    if (isResting || isStopping) return;
    isResting = true;
    await worker.pause(true);
    await new Promise(resolve => setTimeout(resolve, REST_MS));
    isResting = false;
    if (!isStopping) await worker.resume();
  };
  worker.on("error", error => {
    warn(error);
    if (error instanceof AppError) rest().catch(warn);
  });
  worker.on("stalled", jobId =>
    options.log.warn({ queue: name, job_id: jobId }, "job stalled, given out again"),
  );

  return {
    ready: async () => {
      await worker.waitUntilReady();
    },
    async close(deadlineMs) {
      isStopping = true;
      const closing = worker.close();
      if (await endsWithin(closing, deadlineMs)) return;
      worker.cancelAllJobs("shutting down");
      // What has not ended by then is found as stalled, and done elsewhere.
      await endsWithin(closing, CANCEL_MS);
    },
  };
}

/**
 * Makes a job that is given out again, while this process has it in hand, join the work under way: its lock ran out
 * because Redis was away or the process hung, and two at once on the same job would be in each other's way.
 */
function joinedById(work: (job: Job, signal: AbortSignal) => Promise<void>) {
  const inHand = new Map<string, { done: Promise<void>; cancel: AbortController }>();
  return (job: Job, signal?: AbortSignal): Promise<void> => {
    const id = job.id ?? "";
    let hand = inHand.get(id);
    if (!hand) {
      const cancel = new AbortController();
      hand = { cancel, done: work(job, cancel.signal).finally(() => inHand.delete(id)) };
      inHand.set(id, hand);
    }
    const { cancel, done } = hand;
    const onAbort = () => cancel.abort(new AppError("unavailable", "the worker stops; done again elsewhere"));
    signal?.addEventListener("abort", onAbort, { once: true });
    return done;
  };
}

/** How long a job waits that is to come again; null for one that has failed. */
function delayOf(error: unknown, job: Job): number | null {
  if (error instanceof Postponed) return error.delayMs;
  return error instanceof AppError && VERDICTS[error.code] === "wait" ? waitMs(job) : null;
}

/** Milliseconds, the longer the more often the job was begun; spread, so that not all come back at once. */
function waitMs(job: Job): number {
  const ms = Math.min(WAIT_MS.first * 2 ** Math.min(job.attemptsStarted - 1, 10), WAIT_MS.most);
  return ms * (0.5 + Math.random() / 2);
}

async function endsWithin(closing: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<false>(resolve => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const isInTime = await Promise.race([closing.then(() => true), deadline]);
  clearTimeout(timer);
  return isInTime;
}
