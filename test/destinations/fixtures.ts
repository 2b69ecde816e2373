import { sendTest } from "../../src/deliveries/attempt/send.ts";
import { createDestination } from "../../src/destinations/destinations.ts";
import type { NewDestinationBody } from "../../src/destinations/schema.ts";
import { newId } from "../../src/lib/ids.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { Workflows } from "../../src/models/workflow.ts";
import { start as startDeliveries } from "../../workers/deliveries.ts";
import { deliveriesOf, EMITTER, OWNER, onlyDelivery, webhookOf } from "../deliveries/fixtures.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

/** A platform with a worker that delivers. */
export interface Delivering {
  platform: TestPlatform;
  close(): Promise<void>;
}

/** Opens a platform and starts a worker that delivers, with retries after these steps. */
export async function startDelivering(retrySchedule: string[]): Promise<Delivering> {
  const platform = await openTestPlatform(
    { DELIVERY_RETRY_SCHEDULE: retrySchedule.join(",") },
    { process: "deliveries" },
  );
  const worker = startDeliveries(platform, { busyFloorMs: 100 });
  const close = async () => {
    await worker.close(5000);
    await platform.destroy();
  };
  await worker.ready();
  return { platform, close };
}

/** Creates a destination and a subscription whose events it receives. */
export async function subscribeDestination(platform: TestPlatform, body: NewDestinationBody) {
  const destination = await createDestination(platform, { ...body, ownerId: OWNER, userId: OWNER });
  const subscriptionId = newId("sub");
  await Workflows(platform.mongo).updateOne(
    { _id: EMITTER },
    { $setOnInsert: { owner_id: OWNER, name: "emitter", created_at: 0 } },
    { upsert: true },
  );
  await Subscriptions(platform.mongo).insertOne({
    _id: subscriptionId,
    owner_id: OWNER,
    user_id: OWNER,
    emitter_id: EMITTER,
    listener_id: destination.id,
    event_name: subscriptionId,
    filter: null,
    created_at: 0,
  });
  return { webhookId: destination.id, subscriptionId };
}

/** Creates a destination and sends it a test event; returns what came of that. */
export async function testDestination(platform: TestPlatform, body: NewDestinationBody) {
  const { id } = await createDestination(platform, { ...body, ownerId: OWNER, userId: OWNER });
  return await sendTest(platform, await webhookOf(platform, id));
}

/** Waits until the only delivery to a destination has ended, and returns it. */
export const finishedDelivery = (platform: TestPlatform, webhookId: string) =>
  until(async () => {
    const delivery = await onlyDelivery(platform, webhookId);
    return delivery.state !== "pending" && delivery;
  });

/** Waits until so many deliveries to a destination are there and delivered, and returns them. */
export const allDelivered = (platform: TestPlatform, webhookId: string, count: number) =>
  until(
    async () => {
      const all = await deliveriesOf(platform, webhookId);
      return all.length === count && all.every(({ state }) => state === "delivered") && all;
    },
    { what: `${count} delivered` },
  );
