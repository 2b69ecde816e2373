import type { RetryOptions } from "../../src/deliveries/attempt/attempt.ts";
import { createDeliveries } from "../../src/deliveries/dispatch/create.ts";
import { drain } from "../../src/deliveries/worker/drain.ts";
import type { LogFields } from "../../src/deliveries/worker/due.ts";
import { openSharedByAttempts } from "../../src/deliveries/worker/handle-job.ts";
import { newId } from "../../src/lib/ids.ts";
import { Deliveries, type Delivery } from "../../src/models/delivery.ts";
import { type StoredEvent, StoredEvents } from "../../src/models/event.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import { Workflows } from "../../src/models/workflow.ts";
import { Snooze } from "../../src/queues/verdicts.ts";
import { createWebhook, type NewWebhook } from "../../src/webhooks/webhooks.ts";
import type { TestPlatform } from "../support/platform.ts";

export const OWNER = "u_0000000000000000";
export const EMITTER = "p_0000000000000000";

export interface Subscribed {
  webhookId: string;
  subscriptionId: string;
  signingKey: string;
}

/** Creates a webhook with this URL, and a subscription whose events it receives. */
export async function subscribe(
  platform: TestPlatform,
  url: string,
  { ownerId = OWNER, ...settings }: Partial<NewWebhook> = {},
): Promise<Subscribed> {
  const webhook = await createWebhook(platform, { ownerId, userId: ownerId, url, ...settings });
  const subscriptionId = newId("sub");
  await Workflows(platform.mongo).updateOne(
    { _id: EMITTER },
    { $setOnInsert: { owner_id: ownerId, name: "emitter", created_at: 0 } },
    { upsert: true },
  );
  await Subscriptions(platform.mongo).insertOne({
    _id: subscriptionId,
    owner_id: ownerId,
    user_id: ownerId,
    emitter_id: EMITTER,
    listener_id: webhook.id,
    event_name: subscriptionId,
    filter: null,
    created_at: 0,
  });
  return { webhookId: webhook.id, subscriptionId, signingKey: webhook.signing_key };
}

let emitted = 0;

/** Stores an event as the emissions worker does before the fan-out. */
export async function storeEvent(
  platform: TestPlatform,
  event: unknown = { hello: "world" },
  overrides: Partial<StoredEvent> = {},
): Promise<StoredEvent> {
  emitted += 1;
  const now = platform.clock();
  const stored: StoredEvent = {
    _id: newId("emit"),
    emitter_id: EMITTER,
    owner_id: OWNER,
    event_id: `${now}-${emitted % 1024}`,
    score: now * 1024 + (emitted % 1024),
    name: "",
    event: JSON.stringify(event),
    has_webhook_listeners: true,
    created_at: new Date(now),
    ...overrides,
  };
  await StoredEvents(platform.mongo).insertOne(stored);
  return stored;
}

/** Stores an event and creates its deliveries to these listeners; returns the event. */
export async function emit(
  platform: TestPlatform,
  listeners: Pick<Subscribed, "webhookId" | "subscriptionId">[],
  event?: unknown,
): Promise<StoredEvent> {
  const stored = await storeEvent(platform, event);
  await createDeliveries(platform, {
    event: stored,
    listeners: listeners.map(listener => ({ ...listener, ownerId: OWNER })),
  });
  return stored;
}

/** Handles a job that drains a webhook, as the worker does; returns the fields of its log line. */
export async function runDrain(
  platform: TestPlatform,
  webhookId: string,
  { jobId = "drain", ...options }: RetryOptions & { jobId?: string } = {},
): Promise<LogFields> {
  const job = { webhook_id: webhookId, reason: "order" as const, due_ms: 0 };
  const context = { job, jobId, signal: new AbortController().signal, isStopping: () => false };
  const shared = openSharedByAttempts(platform, options);
  try {
    return await drain(platform, context, shared);
  } catch (error) {
    if (error instanceof Snooze) return error.fields;
    throw error;
  } finally {
    await shared.permitCache.close();
  }
}

export async function deliveriesOf(platform: TestPlatform, webhookId: string): Promise<Delivery[]> {
  return await Deliveries(platform.mongo).find({ webhook_id: webhookId }).sort({ _id: 1 }).lean<Delivery[]>();
}

export async function onlyDelivery(platform: TestPlatform, webhookId: string): Promise<Delivery> {
  const [delivery, ...others] = await deliveriesOf(platform, webhookId);
  if (!delivery || others.length > 0) throw new Error(`${others.length + (delivery ? 1 : 0)} deliveries`);
  return delivery;
}

export async function webhookOf(platform: TestPlatform, webhookId: string) {
  const webhook = await Webhooks(platform.mongo).findById(webhookId).lean();
  if (!webhook) throw new Error("no webhook");
  return webhook;
}
