import { type Static, Type } from "typebox";
import { defineQueue } from "./define-queue.ts";

const SourceJob = Type.Object({
  source_id: Type.String(),
  /** The source's owner; without it the source has turns of its own. */
  account_id: Type.Optional(Type.String()),
});
export type SourceJob = Static<typeof SourceJob>;

const charge = ({ account_id, source_id }: SourceJob) => ({ account: account_id ?? source_id, cost: 1 });

/**
 * Jobs about a source. The runs themselves wait in the source's run queue and not here, because the runs of one source are
 * serial over all workers (docs/decisions/0002-runs-of-a-source.md).
 */
export const runs = defineQueue({
  name: "runs",
  concurrency: 32,
  // A job runs for up to a second or for as long as one run, so few of them are a turn.
  quantum: 8,
  options: {
    // The run queue keeps the work and the sweep finds a notify job that failed, so a few attempts are enough.
    attempts: 5,
    backoff: { type: "exponential", delay: 1000, jitter: 0.5 },
    removeOnComplete: { age: 600, count: 200 },
    removeOnFail: { age: 7 * 86_400, count: 1000 },
  },
  jobs: {
    /** Runs wait in the source's run queue. */
    notify: { schema: SourceJob, charge },
    /** A timer is due; made by a job scheduler. */
    tick: { schema: SourceJob, charge },
  },
});
