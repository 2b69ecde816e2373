import { type Static, type TObject, Type } from "typebox";
import { defineQueue } from "./define-queue.ts";

/** One delivery that MongoDB holds: ids only, so a job that outlived a change does nothing. */
const NextAttempt = Type.Object({
  delivery_id: Type.String(),
  webhook_id: Type.String(),
  /** Counts the times this delivery was scheduled; a job of an earlier round is void. */
  round: Type.Integer({ minimum: 0 }),
});
export type NextAttempt = Static<typeof NextAttempt>;

/** Subscription, webhook, and the subscription's owner, who must still reach the webhook. */
export const Listener = Type.Tuple([Type.String(), Type.String(), Type.String()]);
export type Listener = Static<typeof Listener>;

const FirstAttempts = Type.Object({
  /** The job's identity, kept with its events: by it the sweep finds out whether the job still exists. */
  group: Type.String(),
  /** Version of the directory that the listeners were found in. */
  as_of: Type.Optional(Type.String()),
  /** True when an earlier job may have made some of these attempts. */
  again: Type.Optional(Type.Boolean()),
  events: Type.Array(
    Type.Object({
      /** Of the stored event. */
      id: Type.String(),
      event_id: Type.String(),
      emitter_id: Type.String(),
      name: Type.String(),
      /** JSON; absent where it is large: then it is read from MongoDB. */
      body: Type.Optional(Type.String()),
      listeners: Type.Array(Listener),
    }),
  ),
});
export type FirstAttempts = Static<typeof FirstAttempts>;

const LineTurn = Type.Object({
  webhook_id: Type.String(),
  /** `order`: those that are sent one after the other. `pace`: those in line for a place and a token. */
  line: Type.Union([Type.Literal("order"), Type.Literal("pace")]),
  /** Unix milliseconds, rounded up: turns of one webhook at the same moment are one job. */
  due_ms: Type.Integer(),
});
export type LineTurn = Static<typeof LineTurn>;

/**
 * The first attempts of some events at all their listeners, in one job, since a job costs more than a delivery; or the
 * next attempt of one delivery, whose moment is its own; or the turn of those that wait at a webhook.
 */
export type DeliveriesJob = NextAttempt | FirstAttempts | LineTurn;

export const isFirstAttempts = (job: DeliveriesJob): job is FirstAttempts => "events" in job;
export const isLineTurn = (job: DeliveriesJob): job is LineTurn => "line" in job;

function idOf(job: DeliveriesJob): string {
  if (isFirstAttempts(job)) return job.group;
  if (isLineTurn(job)) return `${job.webhook_id}-${job.line}-${job.due_ms}`;
  return `${job.delivery_id}-${job.round}`;
}

export const deliveries = defineQueue({
  name: "deliveries",
  schema: Type.Unsafe<DeliveriesJob>({
    if: { type: "object", required: ["events"] },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own keyword
    then: FirstAttempts as TObject,
    else: {
      if: { type: "object", required: ["line"] },
      // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own keyword
      then: LineTurn as TObject,
      else: NextAttempt as TObject,
    },
  }),
  // One job per round, and none is kept: a stored job would swallow the same round's next `add` in silence.
  jobId: idOf,
  options: {
    // For failures of ours (a store away). An endpoint's failure is no exception: it is a new round with a delay.
    attempts: 12,
    backoff: { type: "exponential", delay: 500, jitter: 0.5 },
    removeOnComplete: true,
    removeOnFail: { age: 7 * 86_400, count: 1000 },
  },
});
