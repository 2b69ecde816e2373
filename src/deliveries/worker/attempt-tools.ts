import { createBatcher } from "../../lib/batcher.ts";
import type { RetryOptions } from "../attempt/attempt.ts";
import { RECORDS_PER_WRITE, recordLaterAttempts, type ToRecord } from "../attempt/record.ts";
import { type AttemptReads, openAttemptReads } from "./attempt-reads.ts";
import type { DeliveryDeps } from "./deps.ts";
import { openTransform, type Transform } from "./transform.ts";

/** What each attempt of a stored delivery needs, shared by those of one process. */
export interface AttemptTools extends RetryOptions {
  reads: AttemptReads;
  transform: Transform;
  /** Records a later attempt, with those that end at the same time; returns false if its delivery had moved on. */
  recordLater: (attempted: ToRecord) => Promise<boolean>;
}

/** Opens what the attempts of one process share; `options` change the retries of tests. */
export function openAttemptTools(platform: DeliveryDeps, options: RetryOptions = {}): AttemptTools {
  return {
    ...options,
    reads: openAttemptReads(platform),
    transform: openTransform(platform),
    // An attempt has held a job since before it was sent: it is recorded without waiting for others to join it.
    recordLater: createBatcher((attempted: ToRecord[]) => recordLaterAttempts(platform, attempted), {
      maxWeight: RECORDS_PER_WRITE,
      concurrency: 2,
    }),
  };
}
