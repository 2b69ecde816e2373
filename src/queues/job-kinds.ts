import type { ValidateFunction } from "ajv";
import type { Job } from "bullmq";
import type { Logger } from "pino";
import type { Static, TSchema } from "typebox";
import { AppError } from "../lib/errors.ts";
import { newAjv } from "../lib/schemas.ts";
import type { QueueDeclaration } from "./define-queue.ts";
import type { Charge } from "./fair-order.ts";

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

/** What a worker does with the jobs of one kind. */
export interface JobKind {
  /** Throws `invalid`, with what is wrong in each field of the payload. */
  check(payload: unknown): void;
  handle: (context: JobContext<never>) => Promise<JobFields>;
  keptPayload: ((payload: never) => unknown) | undefined;
  charge: ((payload: never) => Charge) | undefined;
}

const ajv = newAjv({ strict: false });

/** The kinds of job of one queue, with the handler of each. */
export class JobKinds {
  readonly #queue: string;
  readonly #kinds: ReadonlyMap<string, JobKind>;

  private constructor(queue: string, kinds: [name: string, JobKind][]) {
    this.#queue = queue;
    this.#kinds = new Map(kinds);
  }

  /** One handler for each kind of job that the queue declares. */
  static of<Schemas extends Record<string, TSchema>>(
    queue: QueueDeclaration<Schemas>,
    handlers: JobHandlers<Schemas>,
  ): JobKinds {
    const kinds = Object.values(queue.jobs).map(
      ({ name, schema, keptPayload, charge }): [string, JobKind] => {
        const validate = ajv.compile(schema);
        return [
          name,
          {
            check: payload => checkPayload(validate, payload),
            handle: handlers[name] as unknown as JobKind["handle"],
            keptPayload: keptPayload as JobKind["keptPayload"],
            charge: charge as JobKind["charge"],
          },
        ];
      },
    );
    return new JobKinds(queue.name, kinds);
  }

  /**
   * The kind of a job. The only one of a queue takes jobs of any name: producers of others name them freely. Throws `invalid`
   * for a name that the queue does not know.
   */
  kindOf(job: Job): JobKind {
    const [only] = this.#kinds.values();
    const kind = this.#kinds.size === 1 ? only : this.#kinds.get(job.name);
    if (!kind) throw new AppError("invalid", `queue ${this.#queue} has no jobs named ${job.name}`);
    return kind;
  }

  /** The job's name as a label of metrics. A producer of ours names its jobs; any other name would be a label of its making. */
  labelOf(job: Job): string {
    return this.#kinds.has(job.name) ? job.name : "other";
  }

  /** What a job costs which account. Undefined for a job that is not well-formed: its handler says what is wrong with it. */
  chargeOf(job: Job): Charge | undefined {
    try {
      return this.kindOf(job).charge?.(job.data as never);
    } catch {
      return undefined;
    }
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
