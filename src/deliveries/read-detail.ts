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
 * value of a custom header. `isExpanded` adds the event.
 */
export async function readDetail(
  platform: Pick<Platform, "mongo" | "config">,
  delivery: Delivery,
  isExpanded: boolean,
): Promise<DeliveryDetail> {
  const [request, stored, transformed] = await Promise.all([
    describeRequest(platform, delivery),
    isExpanded ? StoredEvents(platform.mongo).findById(delivery.emit_id, { event: 1 }).lean() : null,
    isExpanded ? TransformedPayloads(platform.mongo).findById(delivery._id, { body: 1 }).lean() : null,
  ]);
  return {
    ...presentWithAttempts(delivery),
    request,
    ...(stored && { event: JSON.parse(stored.event) }),
    ...(transformed && { transformed_event: JSON.parse(transformed.body) }),
  };
}

async function describeRequest(
  platform: Pick<Platform, "mongo" | "config">,
  { _id, webhook_id, owner_id, event_id, emitter_id, event_name }: Delivery,
): Promise<DeliveryRequest | null> {
  const webhook = await findWebhook(platform, webhook_id, [owner_id]);
  if (!webhook) return null;
  const message = { id: _id, eventId: event_id, emitterId: emitter_id, eventName: event_name };
  return {
    method: "POST",
    url: webhook.url,
    headers: messageHeaders(platform.config, message),
    secret_header_names: [...SIGNATURE_HEADERS, ...webhook.header_names],
    webhook_updated_at: webhook.updated_at,
  };
}
