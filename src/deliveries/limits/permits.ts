import { actionMs } from "../../destinations/action/time.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Platform } from "../../platform.ts";
import { enqueueAll } from "../../queues/define-queue.ts";
import { deliveries, type NextAttempt, nextAttemptJobId } from "../../queues/deliveries.ts";
import { enqueueDrain } from "../../queues/enqueue-drain.ts";
import type { Acquired, PermitLimits } from "../../store/permits.ts";

export type PermitDeps = Pick<Platform, "permits" | "queues" | "config" | "clock">;
/** A webhook as far as its permits are concerned. */
export type WebhookLimits = Pick<
  Webhook,
  "_id" | "failing_since_ms" | "kind" | "max_in_flight" | "rate_limit_per_second" | "ordered"
> & {
  /** The account that owns it; undefined for one that is deleted, where nothing else says so. */
  owner_id: string | undefined;
};

/** The limits of a webhook that is deleted or disabled: what waits for it goes on, in order to end. */
export const unlimited = (webhook: Pick<WebhookLimits, "_id" | "owner_id">): WebhookLimits => ({
  ...webhook,
  failing_since_ms: null,
  max_in_flight: null,
  rate_limit_per_second: null,
  ordered: false,
});

/** Beyond the attempt itself: loading, recording, and the time in the queue of a job that was granted its permit. */
const PERMIT_MARGIN_MS = 30_000;

/** How long a permit lasts that is never released because its process was killed. Milliseconds. */
export const permitTtlMs = ({ config }: PermitDeps, { kind }: Pick<Webhook, "kind">): number =>
  (kind === "action" ? actionMs(config) : config.deliveries.timeoutMs) + PERMIT_MARGIN_MS;

/** One spelling, so that a job already on the waitlist is recognised. */
export const waitlistEntry = ({ delivery_id, webhook_id, generation, account_id }: NextAttempt) =>
  JSON.stringify({ delivery_id, webhook_id, generation, account_id });

/**
 * How many deliveries to a webhook may be in flight. A failing webhook gets a single permit: each of its attempts may last
 * until the time limit, and a handful of dead endpoints must not hold every slot (docs/design.md#guarantee-5).
 */
export function permitCount(platform: PermitDeps, webhook: WebhookLimits): number {
  if (webhook.failing_since_ms !== null || webhook.ordered) return 1;
  return webhook.max_in_flight ?? platform.config.deliveries.perWebhook;
}

const limitsOf = (platform: PermitDeps, webhook: WebhookLimits): PermitLimits => ({
  permits: permitCount(platform, webhook),
  perSecond: webhook.rate_limit_per_second ?? null,
  ttlMs: permitTtlMs(platform, webhook),
});

/**
 * Acquires permits, and tokens if the rate is limited, for jobs of one webhook; returns the jobs that got them. The others
 * join the waitlist, or, if it is full, are left as pending deliveries. They wait under the next generation: the present job
 * is still stored and would swallow an `add` of its own id a moment later. MongoDB is not told, so that waiting costs no
 * write: a job's generation may be ahead of its delivery's, and only an earlier one is superseded. A delivery that waits
 * already, or was granted a permit since, stays as it is.
 */
export async function acquirePermits(
  platform: PermitDeps,
  webhook: WebhookLimits,
  jobs: NextAttempt[],
): Promise<NextAttempt[]> {
  const results = await acquireOrWait(platform, webhook, jobs, false);
  return jobs.filter((_, index) => results[index]?.acquired);
}

/** A job that holds its permit, and for how long. */
export interface Holder {
  job: NextAttempt;
  /** Milliseconds since it acquired or was granted it. */
  forMs: number;
}

/**
 * As `acquirePermits`, for deliveries that were found overdue and had no job a moment ago. `holders` are their jobs that hold a
 * permit all the same: each was enqueued since, is about to be, makes its attempt without being stored, or was lost.
 */
export async function acquireForOverdue(
  platform: PermitDeps,
  webhook: WebhookLimits,
  jobs: NextAttempt[],
): Promise<{ acquired: NextAttempt[]; holders: Holder[] }> {
  const results = await acquireOrWait(platform, webhook, jobs, true);
  return {
    acquired: jobs.filter((_, index) => results[index]?.acquired),
    holders: jobs.flatMap((job, index) => {
      const held = results[index]?.held;
      return held ? [{ job: held.isNext ? whenWaiting(job) : job, forMs: held.forMs }] : [];
    }),
  };
}

/** The job that goes on for this one after it has waited. */
const whenWaiting = (job: NextAttempt): NextAttempt => ({ ...job, generation: job.generation + 1 });

async function acquireOrWait(
  platform: PermitDeps,
  webhook: WebhookLimits,
  jobs: NextAttempt[],
  mayBeHeld: boolean,
): Promise<Acquired[]> {
  const limits = limitsOf(platform, webhook);
  const results = await Promise.all(
    jobs.map(job => {
      const next = whenWaiting(job);
      const waiting = { job: waitlistEntry(next), name: nextAttemptJobId(next) };
      const request = { name: nextAttemptJobId(job), waiting, mayBeHeld };
      return platform.permits.acquireOrWait(webhook._id, request, limits);
    }),
  );
  const tokenInMs = Math.max(0, ...results.map(one => one.tokenInMs));
  await drainWhenTokens(platform, webhook, tokenInMs);
  return results;
}

/** As `acquirePermits`, for one job; returns true if it may go on. */
export async function acquirePermit(
  platform: PermitDeps,
  webhook: WebhookLimits,
  job: NextAttempt,
): Promise<boolean> {
  return (await acquirePermits(platform, webhook, [job])).length > 0;
}

/** Releases the job's permit, if it had one, and enqueues the waiting jobs that are granted one. */
export function releasePermit(platform: PermitDeps, webhook: WebhookLimits, job: NextAttempt): Promise<void> {
  return releasePermits(platform, webhook, [nextAttemptJobId(job)]);
}

/**
 * Releases permits by name and enqueues the waiting jobs that are granted one. Each of those holds its permit from that
 * moment, so that two releases at once never grant more than there are.
 */
export async function releasePermits(
  platform: PermitDeps,
  webhook: WebhookLimits,
  names: string[],
): Promise<void> {
  const { granted, tokenInMs, mustRefill } = await platform.permits.release(
    webhook._id,
    names,
    limitsOf(platform, webhook),
  );
  await enqueueAll(
    platform.queues,
    deliveries.jobs["next-attempt"],
    granted.map(text => JSON.parse(text) as NextAttempt),
  );
  await drainWhenTokens(platform, webhook, tokenInMs);
  // What waits at an ordered webhook is pending in MongoDB anyway, and is sent from there.
  if (mustRefill && !webhook.ordered) await enqueueDrain(platform, webhook, "refill", 0);
}

async function drainWhenTokens(
  platform: PermitDeps,
  webhook: WebhookLimits,
  tokenInMs: number,
): Promise<void> {
  if (tokenInMs > 0) await enqueueDrain(platform, webhook, "tokens", tokenInMs);
}
