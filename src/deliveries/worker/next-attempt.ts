import { Deliveries, type Delivery } from "../../models/delivery.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { NextAttempt } from "../../queues/deliveries.ts";
import { enqueueDrain } from "../../queues/enqueue-drain.ts";
import type { JobContext } from "../../queues/run-worker.ts";
import { Snooze } from "../../queues/snooze.ts";
import {
  acquirePermit,
  permitTtlMs,
  releasePermit,
  unlimited,
  type WebhookLimits,
} from "../limits/permits.ts";
import { attemptDelivery } from "./attempt-delivery.ts";
import type { AttemptTools } from "./attempt-tools.ts";
import type { DeliveryDeps, LogFields } from "./deps.ts";
import type { SharedByAttempts } from "./first-attempts.ts";
import { repeatAttempt } from "./repeat-attempt.ts";

/** Between two tries of an attempt that found too many others in flight; more or less by half. Milliseconds. */
const PUT_OFF_MS = 1500;

/** What the later attempts of one process share. */
export type SharedByLaterAttempts = AttemptTools & Pick<SharedByAttempts, "inFlight" | "detached">;

type Context = Pick<JobContext<NextAttempt>, "job"> & { signal?: AbortSignal };

/**
 * Handles a `next-attempt` job: makes the attempt that is due, unless the job is superseded or the webhook has no free
 * permit, and records what follows (docs/design.md#delivery-to-a-webhook). An ordered webhook is drained instead. An error
 * is a failure of ours, after which the job may be started again: it repeats the attempt under the same `webhook-id`. An
 * attempt that takes long goes on without its job.
 */
export async function makeNextAttempt(
  platform: DeliveryDeps,
  { job, signal }: Context,
  shared: SharedByLaterAttempts,
): Promise<LogFields> {
  const [delivery, webhook] = await Promise.all([
    shared.reads.delivery(job.delivery_id),
    shared.reads.webhook(job.webhook_id),
  ]);
  const ids = {
    delivery_id: job.delivery_id,
    webhook_id: job.webhook_id,
    event_id: delivery?.event_id,
    emitter_id: delivery?.emitter_id,
  };
  const isDueNow = delivery !== null && isDue(delivery, job, platform.clock());
  const isOrdered = webhook?.active && webhook.ordered;
  const owner_id = webhook?.owner_id ?? delivery?.owner_id;
  const limits = webhook?.active ? webhook : unlimited({ _id: job.webhook_id, owner_id });
  if (isDueNow && webhook?.active && !isOrdered && !(await acquirePermit(platform, webhook, job))) {
    return { ...ids, result: "waitlisted" };
  }
  if (isDueNow && !isOrdered) {
    const fields = await shared.detached.unlessSlow({
      work: stop => attemptWithPermit(platform, { job, delivery, webhook, limits, signal: stop }, shared),
      leave: () => leaveToSweep(platform, delivery, limits),
      repeat: (error, stopped) => repeatAttempt(platform, { delivery, job, error, signal: stopped }),
      signal,
    });
    return { ...ids, ...(fields ?? { result: "detached" }) };
  }
  try {
    if (!isDueNow || !webhook) return { ...ids, result: "superseded" };
    await enqueueDrain(platform, webhook, "order", 0);
    return { ...ids, result: "ordered" };
  } finally {
    // It may have been granted a permit while it waited, and those behind it wait for that.
    await releasePermit(platform, limits, job);
  }
}

interface AttemptWithPermit {
  job: NextAttempt;
  delivery: Delivery;
  webhook: Webhook | null;
  limits: WebhookLimits;
  signal: AbortSignal;
}

/**
 * Makes the attempt, and releases its permit as soon as the endpoint has responded: a record that is written to a majority of
 * MongoDB's members takes longer than many endpoints. Throws Snooze if too many others are in flight.
 */
async function attemptWithPermit(
  platform: DeliveryDeps,
  { job, delivery, webhook, limits, signal }: AttemptWithPermit,
  shared: SharedByLaterAttempts,
): Promise<LogFields> {
  let leave: (() => void) | null = null;
  let released: Promise<void> | undefined;
  const release = (after: WebhookLimits): Promise<void> => {
    if (released) return released;
    leave?.();
    released = releasePermit(platform, after, job);
    // Awaited at the end; until then a rejection without a listener would end the process.
    released.catch(() => undefined);
    return released;
  };
  const onResponse = (isFailing: boolean) =>
    void release({ ...limits, failing_since_ms: isFailing ? platform.clock() : null });
  try {
    leave = webhook ? await shared.inFlight.enter(webhook) : () => undefined;
    if (!leave) throw new Snooze(PUT_OFF_MS * (0.5 + Math.random()), { result: "put-off" });
    const due = { delivery, webhook, generation: job.generation, signal, onResponse };
    return (await attemptDelivery(platform, due, shared)).fields;
  } finally {
    await release(limits);
  }
}

/** Lets the sweep look at the delivery only once its attempt must have ended; false if it has moved on. */
async function leaveToSweep(
  platform: DeliveryDeps,
  delivery: Delivery,
  limits: WebhookLimits,
): Promise<boolean> {
  const { matchedCount } = await Deliveries(platform.mongo).updateOne(
    { _id: delivery._id, state: "pending", generation: delivery.generation },
    { $set: { sweep_at_ms: platform.clock() + permitTtlMs(platform, limits) } },
  );
  return matchedCount > 0;
}

/**
 * A job of an earlier generation was superseded. A job of a later one was on the waitlist (see `acquirePermits`), and is
 * superseded too if another attempt was made in between and the next one is not due yet.
 */
function isDue(delivery: Delivery, job: NextAttempt, nowMs: number): boolean {
  if (delivery.state !== "pending" || job.generation < delivery.generation) return false;
  return job.generation === delivery.generation || (delivery.next_attempt_at_ms ?? 0) <= nowMs;
}
