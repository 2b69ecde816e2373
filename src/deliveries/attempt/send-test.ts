import { newId } from "../../lib/ids.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Platform } from "../../platform.ts";
import { deliver } from "./send.ts";

/**
 * Sends one signed event to a webhook now, over the path of real deliveries, and tells what the endpoint said. It is
 * no delivery: not recorded, not retried, and no mark on the webhook's health. A disabled webhook can be tried too.
 */
export async function sendTest(
  platform: Pick<Platform, "egress" | "secrets" | "config" | "clock">,
  webhook: Webhook,
): Promise<{ status: number | null; latency_ms: number; error: string | null; response: string }> {
  const now = platform.clock();
  const answer = await deliver(platform, webhook, {
    id: newId("dlv", now),
    eventId: `${now}-0`,
    emitterId: webhook._id,
    eventName: "$test",
    attempt: 1,
    body: JSON.stringify({ test: true, webhook_id: webhook._id, sent_at_ms: now }),
  });
  const { status, latencyMs, error, response } = answer;
  return { status, latency_ms: latencyMs, error, response };
}
