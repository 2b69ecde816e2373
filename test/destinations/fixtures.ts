import { createDestination } from "../../src/destinations/create.ts";
import type { NewDestinationBody } from "../../src/destinations/schema.ts";
import { newId } from "../../src/lib/ids.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { Workflows } from "../../src/models/workflow.ts";
import { EMITTER, OWNER } from "../deliveries/fixtures.ts";
import type { TestPlatform } from "../support/platform.ts";

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
