import { Ajv, type ValidateFunction } from "ajv";
import { type Job, UnrecoverableError, Worker } from "bullmq";
import type { Logger } from "pino";
import type { Static, TSchema } from "typebox";
import { AppError, type ErrorCode } from "../errors.ts";
import type { RedisClient } from "../store/redis.ts";
import type { QueueDeclaration } from "./define-queue.ts";
import { queuePrefix } from "./open-queues.ts";

/** What a handler is given: the checked payload, and the job's own facts. */
export interface Work<Payload> {
  job: Payload;
  jobId: string;
  /** Unix milliseconds at which the job was due. */
  dueAtMs: number;
  log: Logger;
  /** Aborted when the job's lock is lost or the worker is told to end at once. */
  signal: AbortSignal;
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

type Verdict = "done" | "give-up" | "retry";

/** What a refusal means for a job (style.md, "Errors"). All else is retried by the queue's schedule. */
const VERDICTS: Partial<Record<ErrorCode, Verdict>> = {
  invalid: "give-up",
  unauthenticated: "give-up",
  forbidden: "give-up",
  "too-large": "give-up",
  "not-found": "done",
  conflict: "done",
};

const ajv = new Ajv({ strict: false });

function checkPayload(validate: ValidateFunction, payload: unknown): void {
  if (validate(payload)) return;
  const fields = (validate.errors ?? []).map(error => ({
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

  const process = async (job: Job, _token?: string, signal?: AbortSignal): Promise<void> => {
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
        dueAtMs: job.timestamp + (job.opts.delay ?? 0),
        log,
        signal: signal ?? new AbortController().signal,
      });
      finish("done", fields ?? {}, "info");
    } catch (error) {
      const verdict = error instanceof AppError ? (VERDICTS[error.code] ?? "retry") : "retry";
      const last = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
      if (verdict === "done") return finish((error as AppError).code, {}, "info");
      finish(verdict, { err: error }, verdict === "give-up" || last ? "error" : "warn");
      if (verdict === "give-up") throw new UnrecoverableError((error as Error).message);
      throw error;
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
  worker.on("error", error => options.log.warn({ queue: name, err: error }, "worker connection"));
  worker.on("stalled", jobId =>
    options.log.warn({ queue: name, job_id: jobId }, "job stalled, given out again"),
  );

  return {
    ready: async () => {
      await worker.waitUntilReady();
    },
    async close(deadlineMs) {
      let timer: NodeJS.Timeout | undefined;
      const deadline = new Promise<"late">(resolve => {
        timer = setTimeout(() => resolve("late"), deadlineMs);
      });
      const closing = worker.close();
      const ended = await Promise.race([closing, deadline]);
      clearTimeout(timer);
      if (ended !== "late") return;
      worker.cancelAllJobs("shutting down");
      await Promise.race([closing, new Promise(resolve => setTimeout(resolve, CANCEL_MS))]);
      await worker.close(true);
    },
  };
}
