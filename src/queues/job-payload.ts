import { Job, type JobJson, Queue, Worker } from "bullmq";
import { stringifyJson } from "../lib/json-text.ts";
import { script } from "../store/lua.ts";
import type { RedisClient } from "../store/redis.ts";
import { accountIn } from "./define-queue.ts";

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

const setPayload = script<number>("set-job-payload");

/** Replaces a job's payload. `jobKey` is the key of the job itself. Throws if there is no such job. */
export async function replacePayload(redis: RedisClient, jobKey: string, payload: unknown): Promise<void> {
  const isThere = await setPayload(redis, [jobKey], [stringifyJson(payload)]);
  if (isThere === 0) throw new Error("the job whose payload is replaced is not stored");
}
