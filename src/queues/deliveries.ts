import { type Static, Type } from "typebox";
import { defineQueue } from "./define-queue.ts";

/** One delivery that MongoDB holds: ids only, so that a job that outlived a change does nothing. */
const NextAttempt = Type.Object({
  delivery_id: Type.String(),
  webhook_id: Type.String(),
  /** How many times this delivery was scheduled; a job of an earlier generation is superseded. */
  generation: Type.Integer({ minimum: 0 }),
});
export type NextAttempt = Static<typeof NextAttempt>;

/** Subscription, webhook, and the subscription's owner, who must still have access to the webhook. */
export const WebhookListener = Type.Tuple([Type.String(), Type.String(), Type.String()]);
export type WebhookListener = Static<typeof WebhookListener>;

const FirstAttempts = Type.Object({
  /** The job's id, stored with its events: the sweep looks it up to learn whether the job still exists. */
  job_id: Type.String(),
  /** Version of the routing cache in which the listeners were found. */
  routing_version: Type.Optional(Type.String()),
  /** True if an earlier job may have made some of these attempts. */
  is_redispatch: Type.Optional(Type.Boolean()),
  events: Type.Array(
    Type.Object({
      /** The stored event's id. */
      id: Type.String(),
      event_id: Type.String(),
      emitter_id: Type.String(),
      name: Type.String(),
      /** JSON; absent for a large event, which is read from MongoDB. */
      body: Type.Optional(Type.String()),
      listeners: Type.Array(WebhookListener),
    }),
  ),
});
export type FirstAttempts = Static<typeof FirstAttempts>;

const Drain = Type.Object({
  webhook_id: Type.String(),
  /** `order`: the deliveries of an ordered webhook; `tokens`: those on the waitlist of a rate-limited one. */
  reason: Type.Union([Type.Literal("order"), Type.Literal("tokens")]),
  /** Unix milliseconds, rounded up: drains of one webhook due at the same moment are one job. */
  due_ms: Type.Integer(),
});
export type Drain = Static<typeof Drain>;

const Recover = Type.Object({
  webhook_id: Type.String(),
  /** The recovery in the webhook's document; a job of an earlier one is superseded. */
  recovery_id: Type.String(),
});
export type Recover = Static<typeof Recover>;

export const deliveries = defineQueue({
  name: "deliveries",
  concurrency: 24,
  options: {
    // For failures of our own, such as a store away. A failure of the endpoint schedules the next generation instead.
    attempts: 12,
    backoff: { type: "exponential", delay: 500, jitter: 0.5 },
    // A kept job would swallow the next `add` of the same id.
    removeOnComplete: true,
    removeOnFail: { age: 7 * 86_400, count: 1000 },
  },
  jobs: {
    /** The first attempts of some events at all their webhooks: one job, since a job costs more than a delivery. */
    "first-attempts": { schema: FirstAttempts, jobId: ({ job_id }) => job_id },
    /** A later attempt of one delivery, which is due at a moment of its own. */
    "next-attempt": { schema: NextAttempt, jobId: nextAttemptJobId },
    /** Takes up deliveries that wait at their webhook. */
    drain: {
      schema: Drain,
      jobId: ({ webhook_id, reason, due_ms }) => `${webhook_id}-${reason}-${due_ms}`,
    },
    /** Retries the failed deliveries of a webhook, batch by batch. */
    recover: { schema: Recover, jobId: recoverJobId },
  },
});

/** The job of a delivery's next attempt. */
export const nextAttemptOf = (delivery: {
  _id: string;
  webhook_id: string;
  generation: number;
}): NextAttempt => ({
  delivery_id: delivery._id,
  webhook_id: delivery.webhook_id,
  generation: delivery.generation,
});

/** The id of that job: one for each generation, so that a repeated enqueue adds nothing. */
export function nextAttemptJobId({ delivery_id, generation }: NextAttempt): string {
  return `${delivery_id}-${generation}`;
}

/** The id of a webhook's `recover` job. */
export function recoverJobId({ webhook_id, recovery_id }: Recover): string {
  return `${webhook_id}-${recovery_id}`;
}
