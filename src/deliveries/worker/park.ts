import { groupBy } from "../../lib/group-by.ts";
import type { Delivery } from "../../models/delivery.ts";
import { enqueueAll } from "../../queues/define-queue.ts";
import { deliveries, type NextAttempt } from "../../queues/deliveries.ts";
import { insertNew } from "../attempt/record.ts";
import { newDelivery } from "../dispatch/create.ts";
import { enterPlaces } from "../limits/permits.ts";
import type { DeliveryPlatform } from "./attempt-delivery.ts";
import type { ToSend } from "./load-first-attempts.ts";

export const nextAttempt = ({ _id, webhook_id, round }: Delivery): NextAttempt => ({
  delivery_id: _id,
  webhook_id,
  round,
});

/**
 * Makes deliveries of their own of first attempts that find no place or no token: each waits in its webhook's line,
 * where waiting holds no job.
 */
export async function lineUp(platform: DeliveryPlatform, waiting: ToSend[]): Promise<void> {
  const rows = waiting.map(({ event, subscriptionId, webhook }) => ({
    webhook,
    delivery: newDelivery(platform, event, subscriptionId, webhook),
  }));
  await insertNew(
    platform,
    rows.map(({ delivery }) => delivery),
  );
  for (const of of groupBy(rows, ({ webhook }) => webhook._id).values()) {
    const [{ webhook } = rows[0] as (typeof rows)[number]] = of;
    const jobs = of.map(({ delivery }) => nextAttempt(delivery));
    // Places may have become free in between: then the deliveries go on as jobs of their own.
    const entered = await enterPlaces(platform, webhook._id, webhook, jobs);
    await enqueueAll(platform.queues, deliveries, entered);
  }
}
