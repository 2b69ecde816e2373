import { groupBy } from "../../lib/group-by.ts";
import { enqueueAll } from "../../queues/define-queue.ts";
import { deliveries, nextAttemptOf } from "../../queues/deliveries.ts";
import { insertNew } from "../attempt/record.ts";
import { newDelivery } from "../dispatch/create.ts";
import { acquirePermits } from "../limits/permits.ts";
import type { DeliveryDeps } from "./deps.ts";
import type { ToSend } from "./load-first-attempts.ts";

/**
 * Parks first attempts that got no permit or no token: each becomes a pending delivery on its webhook's waitlist, where
 * waiting holds no job slot. Throws `unavailable`.
 */
export async function park(platform: DeliveryDeps, waiting: ToSend[]): Promise<void> {
  const parked = waiting.map(({ event, listener, webhook }) => ({
    webhook,
    delivery: newDelivery(platform, event, listener, webhook),
  }));
  await insertNew(
    platform,
    parked.map(({ delivery }) => delivery),
  );
  for (const ofWebhook of groupBy(parked, ({ webhook }) => webhook._id).values()) {
    const [first] = ofWebhook;
    if (!first) continue;
    const jobs = ofWebhook.map(({ delivery }) => nextAttemptOf(delivery));
    // Permits may have become free in between: then those deliveries go on as jobs.
    const acquired = await acquirePermits(platform, first.webhook, jobs);
    await enqueueAll(platform.queues, deliveries.jobs["next-attempt"], acquired);
  }
}
