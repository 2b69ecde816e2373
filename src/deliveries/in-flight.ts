import type { Platform } from "../platform.ts";
import { enqueueAll } from "../queues/define-queue.ts";
import { type DeliveriesJob, deliveries } from "../queues/deliveries.ts";
import type { Webhook } from "../webhooks/model.ts";

type Stores = Pick<Platform, "places" | "queues" | "config">;

/** Beyond the attempt itself: reading, recording, and the time in the queue of one that was called in. */
const PLACE_MARGIN_MS = 30_000;

const memberOf = (job: DeliveriesJob) => `${job.delivery_id}-${job.round}`;
const lifeMs = (platform: Stores) => platform.config.deliveries.timeoutMs + PLACE_MARGIN_MS;

/** One spelling, so that the line finds a job that waits in it already. */
const spell = ({ delivery_id, webhook_id, round }: DeliveriesJob) =>
  JSON.stringify({ delivery_id, webhook_id, round });

/**
 * How many deliveries to a webhook may be in flight. A failing one gets a single place: each of its attempts may last
 * until the time limit, and a handful of dead endpoints must not hold every slot (design.md, guarantee 5).
 */
export function placesOf(platform: Stores, failing: boolean): number {
  return failing ? 1 : platform.config.deliveries.perWebhook;
}

/**
 * Takes a place for a job; false when it waits in line instead. It waits under the next round: the present job is
 * still stored, and would swallow an `add` of its own id by whoever calls it in a moment later. MongoDB is not told, so
 * that waiting costs no write: a job's round may be ahead of its delivery's, and only an earlier one is void.
 */
export function enterPlace(platform: Stores, webhook: Webhook, job: DeliveriesJob): Promise<boolean> {
  const places = placesOf(platform, webhook.failing_since_ms !== null);
  const waiting = spell({ ...job, round: job.round + 1 });
  return platform.places.enter(job.webhook_id, memberOf(job), waiting, places, lifeMs(platform));
}

/**
 * Gives the job's place back, if it had one, and calls in those that may come. Each is given its place before it is
 * enqueued, so that two who leave at once do not call in more than there are places.
 */
export async function leavePlace(platform: Stores, job: DeliveriesJob, failing: boolean): Promise<void> {
  const places = placesOf(platform, failing);
  const next = await platform.places.leave(job.webhook_id, memberOf(job), places);
  const called: DeliveriesJob[] = [];
  for (const text of next) {
    const waiting = JSON.parse(text) as DeliveriesJob;
    const { webhook_id } = waiting;
    if (await platform.places.enter(webhook_id, memberOf(waiting), text, places, lifeMs(platform))) {
      called.push(waiting);
    }
  }
  await enqueueAll(platform.queues, deliveries, called);
}
