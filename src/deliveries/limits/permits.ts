import type { Webhook } from "../../models/webhook.ts";
import type { Platform } from "../../platform.ts";
import { enqueueAll } from "../../queues/define-queue.ts";
import { deliveries, type NextAttempt } from "../../queues/deliveries.ts";
import { enqueueTurn } from "../../queues/enqueue-drain.ts";
import type { PlaceLimits } from "../../store/permits.ts";

export type PlacePlatform = Pick<Platform, "places" | "queues" | "config" | "clock">;
export type Limited = Pick<
  Webhook,
  "failing_since_ms" | "max_in_flight" | "rate_limit_per_second" | "ordered"
>;

/** Of a webhook that is gone or disabled: what waits for it goes on, to end. */
export const UNLIMITED: Limited = {
  failing_since_ms: null,
  max_in_flight: null,
  rate_limit_per_second: null,
  ordered: false,
};

/** Beyond the attempt itself: reading, recording, and the time in the queue of one that was called in. */
const PLACE_MARGIN_MS = 30_000;

const memberOf = (job: NextAttempt) => `${job.delivery_id}-${job.round}`;

/** How long a place is kept for one that does not give it back: its process was killed. */
export const placeLifeMs = (platform: PlacePlatform) =>
  platform.config.deliveries.timeoutMs + PLACE_MARGIN_MS;

/** One spelling, so that the line finds a job that waits in it already. */
const spell = ({ delivery_id, webhook_id, round }: NextAttempt) =>
  JSON.stringify({ delivery_id, webhook_id, round });

/**
 * How many deliveries to a webhook may be in flight. A failing one gets a single place: each of its attempts may last
 * until the time limit, and a handful of dead endpoints must not hold every slot (design.md, guarantee 5).
 */
export function placesOf(platform: PlacePlatform, webhook: Limited): number {
  if (webhook.failing_since_ms !== null || webhook.ordered) return 1;
  return webhook.max_in_flight ?? platform.config.deliveries.perWebhook;
}

const limitsOf = (platform: PlacePlatform, webhook: Limited): PlaceLimits => ({
  places: placesOf(platform, webhook),
  perSecond: webhook.rate_limit_per_second ?? null,
  lifeMs: placeLifeMs(platform),
});

/**
 * Takes places, and tokens where the rate is limited, for jobs of one webhook; answers those that have got them. The
 * others wait in line, under the next round: the present job is still stored, and would swallow an `add` of its own id
 * by whoever calls it in a moment later. MongoDB is not told, so that waiting costs no write: a job's round may be ahead
 * of its delivery's, and only an earlier one is void.
 */
export async function enterPlaces(
  platform: PlacePlatform,
  webhookId: string,
  webhook: Limited,
  jobs: NextAttempt[],
): Promise<NextAttempt[]> {
  const limits = limitsOf(platform, webhook);
  const answers = await Promise.all(
    jobs.map(job => {
      const waiting = spell({ ...job, round: job.round + 1 });
      return platform.places.enter(webhookId, memberOf(job), waiting, limits);
    }),
  );
  await callInAfter(platform, webhookId, Math.max(0, ...answers.map(({ tokenInMs }) => tokenInMs)));
  return jobs.filter((_, index) => answers[index]?.entered);
}

/** As `enterPlaces`, for one: true when it may go. */
export async function enterPlace(
  platform: PlacePlatform,
  webhook: Limited,
  job: NextAttempt,
): Promise<boolean> {
  return (await enterPlaces(platform, job.webhook_id, webhook, [job])).length > 0;
}

/** Gives the job's place back, if it had one, and calls in those that may come. */
export function leavePlace(platform: PlacePlatform, webhook: Limited, job: NextAttempt): Promise<void> {
  return leavePlaces(platform, job.webhook_id, [memberOf(job)], webhook);
}

/**
 * Gives places back under their names and calls in those that may come. Each has been given its place when it is
 * enqueued, so that two who leave at once do not call in more than there are places.
 */
export async function leavePlaces(
  platform: PlacePlatform,
  webhookId: string,
  names: string[],
  webhook: Limited,
): Promise<void> {
  const { called, tokenInMs } = await platform.places.leave(webhookId, names, limitsOf(platform, webhook));
  await enqueueAll(
    platform.queues,
    deliveries,
    called.map(text => JSON.parse(text) as NextAttempt),
  );
  await callInAfter(platform, webhookId, tokenInMs);
}

async function callInAfter(platform: PlacePlatform, webhookId: string, tokenInMs: number): Promise<void> {
  if (tokenInMs > 0) await enqueueTurn(platform, webhookId, "pace", tokenInMs);
}
