import { dispatchEvents } from "../../src/deliveries/dispatch/dispatch.ts";
import { storeEvents } from "../../src/events/store.ts";
import { newId } from "../../src/lib/ids.ts";
import type { StoredEvent } from "../../src/models/event.ts";
import { type Webhook, Webhooks } from "../../src/models/webhook.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import type { TestPlatform } from "../support/platform.ts";
import type { Received } from "../support/receiver.ts";
import { EMITTER, OWNER, type Subscribed, subscribe } from "./fixtures.ts";

/** A webhook with settings of its own, subscribed. */
export async function subscribePaced(
  platform: TestPlatform,
  url: string,
  pace: Partial<Pick<Webhook, "max_in_flight" | "rate_limit_per_second" | "ordered">>,
): Promise<Subscribed> {
  const subscribed = await subscribe(platform, url);
  await Webhooks(platform.mongo).updateOne({ _id: subscribed.webhookId }, { $set: pace });
  return subscribed;
}

/** So many events in the order of their ids, as the emissions worker has them, not stored yet; the body is `{n}`. */
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

/** Stores events and enqueues their first attempts, in a job for each call. */
export const emitFirst = (platform: Platform, events: StoredEvent[], to: Subscribed[]): Promise<void> =>
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
    rows => storeEvents(platform, rows),
  );

/** The `n` of each request, as they came. */
export const numbersOf = (requests: Received[]): number[] => requests.map(({ raw }) => JSON.parse(raw).n);

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** Another process's platform on the same stores. */
export const openAnother = (platform: Platform): Promise<Platform> =>
  openPlatform(platform.config, "deliveries");
