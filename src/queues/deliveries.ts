import { type Static, Type } from "typebox";
import { defineQueue } from "./define-queue.ts";

/** Ids only: MongoDB holds the delivery, so a job that outlived a change does nothing. */
export const DeliveriesJob = Type.Object({
  delivery_id: Type.String(),
  webhook_id: Type.String(),
  /** Counts the times this delivery was scheduled; a job of an earlier round is void. */
  round: Type.Integer({ minimum: 0 }),
});
export type DeliveriesJob = Static<typeof DeliveriesJob>;

export const deliveries = defineQueue({
  name: "deliveries",
  schema: DeliveriesJob,
  // One job per round, and none is kept: a stored job would swallow the same round's next `add` in silence.
  jobId: job => `${job.delivery_id}-${job.round}`,
  options: {
    // For failures of ours (a store away). An endpoint's failure is no exception: it is a new round with a delay.
    attempts: 12,
    backoff: { type: "exponential", delay: 500, jitter: 0.5 },
    removeOnComplete: true,
    removeOnFail: { age: 7 * 86_400, count: 1000 },
  },
});
