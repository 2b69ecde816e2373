import { JsonText } from "../lib/json-text.ts";
import type { Delivery } from "../models/delivery.ts";
import { StoredEvents } from "../models/event.ts";
import { TransformedPayloads } from "../models/transformed-payload.ts";
import type { Platform } from "../platform.ts";
import { findWebhook } from "../webhooks/find.ts";
import { messageHeaders } from "./attempt/message-headers.ts";
import { SIGNATURE_HEADERS } from "./attempt/sign.ts";
import { presentWithAttempts } from "./present.ts";
import type { DeliveryDetail, DeliveryRequest } from "./schema.ts";

/**
 * Returns a delivery with its attempts and with what they send, which is derived and not stored; never a signature or the
 * value of a custom header. `isExpanded` adds the event, if its emitter is one of these owners'.
 */
export async function readDetail(
  platform: Pick<Platform, "mongo" | "config">,
  delivery: Delivery,
  { owners, isExpanded }: { owners: string[]; isExpanded: boolean },
): Promise<DeliveryDetail> {
  const [request, payload] = await Promise.all([
    describeRequest(platform, delivery),
    isExpanded ? readPayload(platform, delivery, owners) : {},
  ]);
  return { ...presentWithAttempts(delivery), request, ...payload };
}

/** What a function made of an event is as little for others than the readers of its emitter as the event itself. */
async function readPayload(
  { mongo }: Pick<Platform, "mongo">,
  { _id, emit_id }: Delivery,
  owners: string[],
): Promise<Pick<DeliveryDetail, "event" | "transformed_event">> {
  const [stored, transformed] = await Promise.all([
    StoredEvents(mongo)
      .findOne({ _id: emit_id, owner_id: { $in: owners } }, { event: 1 })
      .lean(),
    TransformedPayloads(mongo).findById(_id, { body: 1 }).lean(),
  ]);
  if (!stored) return {};
  return {
    event: new JsonText(stored.event),
    ...(transformed && { transformed_event: new JsonText(transformed.body) }),
  };
}

async function describeRequest(
  platform: Pick<Platform, "mongo" | "config">,
  { _id, webhook_id, owner_id, event_id, emitter_id, event_name, hops }: Delivery,
): Promise<DeliveryRequest | null> {
  const webhook = await findWebhook(platform, webhook_id, [owner_id]);
  if (!webhook) return null;
  const message = { id: _id, eventId: event_id, emitterId: emitter_id, eventName: event_name, hops };
  return {
    method: "POST",
    url: webhook.url,
    headers: messageHeaders(platform.config, message),
    secret_header_names: [...SIGNATURE_HEADERS, ...webhook.header_names],
    webhook_updated_at: webhook.updated_at,
  };
}
