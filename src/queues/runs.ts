import { type Static, Type } from "typebox";
import { defineQueue } from "./define-queue.ts";

const SourceJob = Type.Object({
  source_id: Type.String(),
  /** The source's owner; without it the source has turns of its own. */
  account_id: Type.Optional(Type.String()),
});
export type SourceJob = Static<typeof SourceJob>;

const Notify = Type.Object({
  ...SourceJob.properties,
  /** Name of the notification (`RunQueue.notification`); jobs of older versions have none. */
  notification: Type.Optional(Type.String()),
});

/** The job's id: while it waits, the same notification adds no other. */
export const notifyJobId = ({ source_id, notification }: Static<typeof Notify>): string =>
  `${source_id}-${notification ?? ""}`;
const ofSource = ({ source_id }: SourceJob) => source_id;
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
    // A kept notify job would swallow the next `add` of the same notification.
    removeOnComplete: true,
    removeOnFail: { age: 7 * 86_400, count: 1000 },
  },
  jobs: {
    /** Runs wait in the source's run queue. */
    notify: { schema: Notify, jobId: notifyJobId, charge, shardBy: ofSource },
    /** A timer is due; made by a job scheduler. */
    tick: { schema: SourceJob, charge, shardBy: ofSource },
  },
});
