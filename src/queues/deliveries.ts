import { type Static, Type } from "typebox";
import { groupBy } from "../lib/lists.ts";
import { defineQueue, enqueueAll, FAILED_JOBS_KEPT, type Queues } from "./define-queue.ts";

/** Who is charged for the job; a job of an older version has none, and counts for its webhook or emitter. */
const AccountId = Type.Optional(Type.String());

/** Of the release before, which had a job for each later attempt: its webhook is drained instead. */
const NextAttempt = Type.Object({
  delivery_id: Type.String(),
  webhook_id: Type.String(),
  generation: Type.Integer({ minimum: 0 }),
  account_id: AccountId,
});

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
  /** The emitter's owner: a job holds events of one account. */
  account_id: AccountId,
  events: Type.Array(
    Type.Object({
      /** The stored event's id. */
      id: Type.String(),
      event_id: Type.String(),
      emitter_id: Type.String(),
      name: Type.String(),
      /** JSON; absent for a large event, which is read from MongoDB. */
      body: Type.Optional(Type.String()),
      /** Its place in a trace. */
      trace: Type.Optional(Type.String()),
      /** How many listeners led to it. */
      hops: Type.Optional(Type.Integer({ minimum: 0 })),
      listeners: Type.Array(WebhookListener),
      /** The functions of the subscriptions that have one, as they were: one may be deleted with its emitter. */
      functions: Type.Optional(Type.Record(Type.String(), Type.String())),
    }),
  ),
});
export type FirstAttempts = Static<typeof FirstAttempts>;

const Drain = Type.Object({
  webhook_id: Type.String(),
  /** The release before distinguishes why a webhook is drained; `order` has it send all that is due, as this one does. */
  reason: Type.Union([Type.Literal("order"), Type.Literal("tokens"), Type.Literal("refill")]),
  /** Unix milliseconds, rounded up: drains of one webhook due at the same moment are one job. */
  due_ms: Type.Integer(),
  account_id: AccountId,
});
export type Drain = Static<typeof Drain>;

/** The job without its events' bodies, which are then read from MongoDB. */
const withoutBodies = (job: FirstAttempts): FirstAttempts => ({
  ...job,
  events: job.events.map(({ body: _, ...event }) => event),
});
/** Attempts that cost as much as one job of a single attempt: those of one job share most of their work. */
const ATTEMPTS_PER_COST = 4;

function costOf({ events }: FirstAttempts): number {
  const attempts = events.reduce((sum, { listeners }) => sum + listeners.length, 0);
  return Math.max(1, Math.ceil(attempts / ATTEMPTS_PER_COST));
}

const Recover = Type.Object({
  webhook_id: Type.String(),
  /** The recovery in the webhook's document; a job of an earlier one is superseded. */
  recovery_id: Type.String(),
  account_id: AccountId,
});
export type Recover = Static<typeof Recover>;

const ReplayJob = Type.Object({ replay_id: Type.String(), account_id: Type.String() });
export type ReplayJob = Static<typeof ReplayJob>;

export const deliveries = defineQueue({
  name: "deliveries",
  concurrency: 32,
  quantum: 32,
  options: {
    // For failures of our own, such as a store away. After a failure of the endpoint the delivery is due again later.
    attempts: 12,
    backoff: { type: "exponential", delay: 500, jitter: 0.5 },
    // A kept job would swallow the next `add` of the same id.
    removeOnComplete: true,
    removeOnFail: FAILED_JOBS_KEPT,
  },
  jobs: {
    /** The first attempts of some events at all their webhooks: one job, since a job costs more than a delivery. */
    "first-attempts": {
      schema: FirstAttempts,
      jobId: ({ job_id }) => job_id,
      keptPayload: withoutBodies,
      // Its events are for many webhooks.
      shardBy: ({ job_id }) => job_id,
      charge: job => ({ account: job.account_id ?? job.events[0]?.emitter_id ?? "", cost: costOf(job) }),
    },
    /** Only read: this release enqueues no such job. */
    "next-attempt": { schema: NextAttempt, writes: 0, charge: chargeWebhook, shardBy: ofWebhook },
    /** Sends what is due at a webhook: all attempts but the first, and first attempts that had to wait. */
    drain: {
      schema: Drain,
      jobId: drainJobId,
      charge: chargeWebhook,
      shardBy: ofWebhook,
    },
    /** Retries the failed deliveries of a webhook, batch by batch. */
    recover: { schema: Recover, jobId: recoverJobId, charge: chargeWebhook, shardBy: ofWebhook },
    /** Retries the deliveries that a filter selects, batch by batch. */
    replay: {
      schema: ReplayJob,
      jobId: replayJobId,
      shardBy: replayJobId,
      charge: ({ account_id }) => ({ account: account_id, cost: 1 }),
    },
  },
});

type OfWebhook = Static<typeof NextAttempt> | Drain | Recover;

function chargeWebhook({ account_id, webhook_id }: OfWebhook) {
  return { account: account_id ?? webhook_id, cost: 1 };
}

function ofWebhook({ webhook_id }: OfWebhook) {
  return webhook_id;
}

/** The id of the job that drains a webhook at a moment: one for each, so that a repeated enqueue adds nothing. */
export function drainJobId({ webhook_id, reason, due_ms }: Drain): string {
  return `${webhook_id}-${reason}-${due_ms}`;
}

/** The id of a webhook's `recover` job. */
export function recoverJobId({ webhook_id, recovery_id }: Recover): string {
  return `${webhook_id}-${recovery_id}`;
}

/** The id of a replay's job. */
export function replayJobId({ replay_id }: Pick<ReplayJob, "replay_id">): string {
  return replay_id;
}

/** Drains of one webhook due within the same slot are one job, so that they never pile up. Milliseconds. */
const SLOT_MS = 100;

/** A webhook of which something is due. Without its owner, its drain takes turns of its own, as another account would. */
export interface ToDrain {
  webhook_id: string;
  owner_id: string | undefined;
  /** Unix milliseconds. */
  dueAtMs: number;
}

/** Returns the job that drains a webhook of what is due at that moment: at the end of the slot that it is in. */
const drainOf = ({ webhook_id, owner_id, dueAtMs }: ToDrain): Drain => ({
  webhook_id,
  ...(owner_id !== undefined && { account_id: owner_id }),
  reason: "order",
  due_ms: (Math.floor(dueAtMs / SLOT_MS) + 1) * SLOT_MS,
});

/** The id of the job by which a delivery that is due at that moment is sent, if it was enqueued when it was stored. */
export const drainJobIdOf = (webhook_id: string, dueAtMs: number): string =>
  drainJobId(drainOf({ webhook_id, owner_id: undefined, dueAtMs }));

/**
 * Enqueues a job that sends what is due at each of these webhooks, at the end of the slot in which it is. That is always in the
 * future, so that a drain under way never swallows the next one. Throws `unavailable`.
 */
export async function enqueueDrains(
  platform: { queues: Queues; clock: () => number },
  toDrain: ToDrain[],
): Promise<void> {
  const now = platform.clock();
  const drains = new Map(
    toDrain.map(one => {
      const drain = drainOf({ ...one, dueAtMs: Math.max(one.dueAtMs, now) });
      return [drainJobId(drain), drain];
    }),
  );
  for (const some of groupBy([...drains.values()], ({ due_ms }) => String(due_ms)).values()) {
    const delayMs = (some[0]?.due_ms ?? now) - now;
    await enqueueAll(platform.queues, deliveries.jobs.drain, some, { delayMs });
  }
}

/** As `enqueueDrains`, for one webhook, in so many milliseconds. */
export async function enqueueDrain(
  platform: { queues: Queues; clock: () => number },
  { _id: webhook_id, owner_id }: { _id: string; owner_id: string | undefined },
  inMs = 0,
): Promise<void> {
  await enqueueDrains(platform, [{ webhook_id, owner_id, dueAtMs: platform.clock() + inMs }]);
}
