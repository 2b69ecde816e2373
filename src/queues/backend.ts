import {
  type BackendFactory,
  createRedisBackend,
  Job,
  type JobJson,
  Queue,
  type RedisQueueBackend,
  raw2NextJobData,
  Worker,
} from "bullmq";
import { stringifyJson } from "../lib/json-text.ts";
import type { RedisClient } from "../store/connections/redis.ts";
import { script } from "../store/lua.ts";
import { accountIn } from "./define-queue.ts";

type Fetched = [fields: string[] | 0, id: string | 0, dueMs: number, waits: 0 | 1];
type Backend = RedisQueueBackend;

const startJob = script<Fetched | number>("fetch-job", "start-job");
const finishJob = script<Fetched | number>("fetch-job", "finish-job");

/** What BullMQ takes for "no job". */
const nothing = (dueMs: number) => [null, 0, 0, dueMs];

const jobIn = ([fields, id, dueMs]: Fetched): ReturnType<typeof raw2NextJobData> =>
  fields === 0 ? nothing(dueMs) : raw2NextJobData([fields, id, 0, 0]);

/**
 * Returns what a worker asks Redis through: BullMQ's own backend, except that a job costs fewer commands
 * (docs/performance.md#round-trips). BullMQ's own notifies a worker again for each job that was taken, looks for another one
 * after each, and writes a stream of events that nothing reads. This one asks for another job only if one waits. Both use the
 * same lists and hashes, so that workers of either kind share a queue (test/queues/backend.test.ts compares them).
 */
export const leanBackend =
  (redis: RedisClient, lockMs: number): BackendFactory<Backend> =>
  (name, options, connections) => {
    const backend = createRedisBackend(name, options, connections);
    const ask = new Asker(redis, backend, lockMs);
    return Object.assign(backend, {
      moveToActive: ask.moveToActive,
      moveToCompleted: ask.moveToCompleted,
      waitForJob: ask.waitForJob,
    });
  };

class Asker {
  readonly #redis: RedisClient;
  readonly #keys: string[];
  readonly #backend: Backend;
  readonly #lockMs: number;
  readonly #moveToActive: Backend["moveToActive"];
  readonly #moveToCompleted: Backend["moveToCompleted"];
  readonly #waitForJob: Backend["waitForJob"];
  /** When the next delayed job is due, or 0: what the next fetch returns. Set by a job after which none waited. */
  #nextDueMs: number | undefined;

  constructor(redis: RedisClient, backend: Backend, lockMs: number) {
    const { wait, active, prioritized, delayed, meta, pc, marker, stalled } = backend.keys;
    this.#redis = redis;
    this.#keys = [wait, active, prioritized, delayed, meta, pc, marker, stalled] as string[];
    this.#backend = backend;
    this.#lockMs = lockMs;
    this.#moveToActive = backend.moveToActive.bind(backend);
    this.#moveToCompleted = backend.moveToCompleted.bind(backend);
    this.#waitForJob = backend.waitForJob.bind(backend);
  }

  readonly moveToActive: Backend["moveToActive"] = async (token, name) => {
    const dueMs = this.#nextDueMs;
    this.#nextDueMs = undefined;
    // A worker asks again at once. The marker notifies it of what is added from now on.
    if (dueMs !== undefined) return nothing(dueMs);
    const fetched = await startJob(this.#redis, this.#keys, this.#args(token));
    if (typeof fetched === "number") return await this.#moveToActive(token, name);
    const [fields, , nextDueMs, waits] = fetched;
    if (fields !== 0 && waits === 0) this.#nextDueMs = nextDueMs;
    return jobIn(fetched);
  };

  /** What is notified now came after the job that was taken last: the next fetch must ask. */
  readonly waitForJob: Backend["waitForJob"] = async timeoutS => {
    try {
      return await this.#waitForJob(timeoutS);
    } finally {
      this.#nextDueMs = undefined;
    }
  };

  readonly moveToCompleted: Backend["moveToCompleted"] = async (job, value, remove, token, fetchNext) => {
    const keys = [...this.#keys, this.#backend.toKey(job.id ?? "")];
    const fetches = fetchNext && !this.#backend.closing;
    const args = [...this.#args(token), job.id ?? "", fetches ? 1 : 0];
    const finished = remove === true ? await finishJob(this.#redis, keys, args) : IS_OTHER;
    if (finished === IS_OTHER) return await this.#moveToCompleted(job, value, remove, token, fetchNext);
    return {
      result: typeof finished === "number" ? undefined : jobIn(finished),
      finishedOn: Date.now(),
    };
  };

  #args(token: string): (string | number)[] {
    return [this.#backend.toKey(""), Date.now(), token, this.#lockMs];
  }
}

/** What the scripts return for a job that only BullMQ's own script knows how to treat. */
const IS_OTHER = -100;

/** A job whose payload is stored with each JsonText in it as it is. */
class PayloadJob extends Job {
  override asJSON(): JobJson {
    const { data } = this;
    this.data = {};
    try {
      return { ...super.asJSON(), data: stringifyJson(data ?? {}) };
    } finally {
      this.data = data;
    }
  }
}

export class PayloadQueue extends Queue {
  protected override get Job(): typeof Job {
    // BullMQ declares the class with type parameters, which no queue of ours has.
    return PayloadJob as unknown as typeof Job;
  }
}

/** Reads a payload from JSON; `JSON.parse` is what does it without one. */
export type ReadPayload = (json: string) => unknown;

/** Returns the worker class of a queue whose payloads are read by `read`. */
export const workerReading = (read: ReadPayload | undefined): typeof Worker =>
  read === undefined
    ? Worker
    : class extends Worker {
        protected override createJob(stored: JobJson, jobId: string) {
          // Of another producer's job it is not known that it is JSON throughout.
          if (accountIn(stored.opts) === undefined) JSON.parse(stored.data);
          const job = super.createJob({ ...stored, data: "{}" }, jobId);
          job.data = read(stored.data);
          return job;
        }
      };
