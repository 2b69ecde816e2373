import type { SendDeps } from "../../destinations/message.ts";
import { newId } from "../../lib/ids.ts";
import type { Webhook } from "../../models/webhook.ts";
import { send } from "./send.ts";

/**
 * Sends one test event to a webhook or destination now, over the same path as real deliveries, and returns what the endpoint
 * responded. It is not a delivery: not recorded, not retried, without effect on the webhook's health. A disabled webhook
 * can be tested too.
 */
export async function sendTest(
  platform: SendDeps,
  webhook: Webhook,
): Promise<{ status: number | null; latency_ms: number; error: string | null; response: string }> {
  const now = platform.clock();
  const { status, latencyMs, error, response } = await send(platform, webhook, {
    id: newId("dlv", now),
    eventId: `${now}-0`,
    emitterId: webhook._id,
    eventName: "$test",
    attempt: 1,
    body: JSON.stringify({ test: true, webhook_id: webhook._id, sent_at_ms: now }),
  });
  return { status, latency_ms: latencyMs, error, response };
}
