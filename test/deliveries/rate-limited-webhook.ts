import { dispatchEvents } from "../../src/deliveries/dispatch/dispatch.ts";
import { newId } from "../../src/lib/ids.ts";
import type { StoredEvent } from "../../src/models/event.ts";
import { type Webhook, Webhooks } from "../../src/models/webhook.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import type { TestPlatform } from "../support/platform.ts";
import type { Received } from "../support/receiver.ts";
import { EMITTER, OWNER, type Subscribed, subscribe } from "./fixtures.ts";

/** Creates a subscribed webhook with these limits. */
export async function subscribeLimited(
  platform: TestPlatform,
  url: string,
  limits: Partial<Pick<Webhook, "max_in_flight" | "rate_limit_per_second" | "ordered">>,
): Promise<Subscribed> {
  const subscribed = await subscribe(platform, url);
  await Webhooks(platform.mongo).updateOne({ _id: subscribed.webhookId }, { $set: limits });
  return subscribed;
}

/** Returns `count` events in the order of their ids, not stored yet; the body of each is `{n}`, counted from 0. */
export function eventsInOrder(count: number, nowMs = Date.now()): StoredEvent[] {
  return Array.from({ length: count }, (_, n) => ({
    _id: `${EMITTER}-${newId("emit")}`,
    emitter_id: EMITTER,
    owner_id: OWNER,
    event_id: `${nowMs}-${n}`,
    score: nowMs * 1024 + n,
    name: "",
    event: JSON.stringify({ n }),
    has_webhook_listeners: true,
    created_at: new Date(nowMs),
  }));
}

/** Stores events and enqueues their first attempts; events of two calls never share a job. */
export const emitTo = (platform: Platform, events: StoredEvent[], to: Subscribed[]): Promise<void> =>
  dispatchEvents(
    platform,
    events.map(event => ({
      event,
      listeners: to.map(({ subscriptionId, webhookId }) => ({
        _id: subscriptionId,
        listener_id: webhookId,
        owner_id: OWNER,
      })),
      isRedispatch: false,
    })),
  );

/** Returns the `n` of each request, in order of arrival. */
export const numbersOf = (requests: Received[]): number[] => requests.map(({ raw }) => JSON.parse(raw).n);

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** Opens a second platform on the same stores, as another process has. */
export const openSecondPlatform = (platform: Platform): Promise<Platform> =>
  openPlatform(platform.config, "deliveries");
