import type { Platform } from "../platform.ts";
import { enqueueAll } from "../queues/define-queue.ts";
import { deliveries, type NextAttempt } from "../queues/deliveries.ts";
import type { Webhook } from "../webhooks/model.ts";

export type PlacePlatform = Pick<Platform, "places" | "queues" | "config">;
export type Limited = Pick<Webhook, "failing_since_ms" | "max_in_flight">;

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
  if (webhook.failing_since_ms !== null) return 1;
  return webhook.max_in_flight ?? platform.config.deliveries.perWebhook;
}

/**
 * Takes a place for a job; false when it waits in line instead. It waits under the next round: the present job is
 * still stored, and would swallow an `add` of its own id by whoever calls it in a moment later. MongoDB is not told, so
 * that waiting costs no write: a job's round may be ahead of its delivery's, and only an earlier one is void.
 */
export function enterPlace(platform: PlacePlatform, webhook: Limited, job: NextAttempt): Promise<boolean> {
  const waiting = spell({ ...job, round: job.round + 1 });
  const places = placesOf(platform, webhook);
  return platform.places.enter(job.webhook_id, memberOf(job), waiting, places, placeLifeMs(platform));
}

/** Gives the job's place back, if it had one, and calls in those that may come. */
export function leavePlace(platform: PlacePlatform, webhook: Limited, job: NextAttempt): Promise<void> {
  return leavePlaces(platform, job.webhook_id, [memberOf(job)], placesOf(platform, webhook));
}

/**
 * Gives places back under their names and calls in those that may come. Each is given its place before it is enqueued,
 * so that two who leave at once do not call in more than there are places.
 */
export async function leavePlaces(
  platform: PlacePlatform,
  webhookId: string,
  names: string[],
  places: number,
): Promise<void> {
  const called: NextAttempt[] = [];
  for (const text of await platform.places.leave(webhookId, names, places)) {
    const waiting = JSON.parse(text) as NextAttempt;
    const life = placeLifeMs(platform);
    if (await platform.places.enter(webhookId, memberOf(waiting), text, places, life)) called.push(waiting);
  }
  await enqueueAll(platform.queues, deliveries, called);
}
