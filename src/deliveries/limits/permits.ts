import { actionMs } from "../../destinations/action/settings.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Queued, Stores } from "../../platform.ts";
import { enqueueDrain } from "../../queues/enqueue-drain.ts";
import type { PermitLimits } from "../../store/permits.ts";
/** A webhook as far as its permits are concerned. */
export type WebhookLimits = Pick<
  Webhook,
  "_id" | "failing_since_ms" | "kind" | "max_in_flight" | "rate_limit_per_second" | "ordered"
> & {
  /** The account that owns it; undefined for one that is deleted, where nothing else says so. */
  owner_id: string | undefined;
};

/** The limits of a webhook that is deleted or disabled: what is due at it goes on, in order to end. */
export const unlimited = (webhook: Pick<WebhookLimits, "_id" | "owner_id">): WebhookLimits => ({
  ...webhook,
  failing_since_ms: null,
  max_in_flight: null,
  rate_limit_per_second: null,
  ordered: false,
});

/** Beyond the attempt itself: loading and recording. */
const ATTEMPT_MARGIN_MS = 30_000;

/** How long an attempt may be under way. Milliseconds. */
export const attemptMs = ({ config }: Stores, { kind }: Pick<Webhook, "kind">): number =>
  (kind === "action" ? actionMs(config) : config.deliveries.timeoutMs) + ATTEMPT_MARGIN_MS;

/**
 * How many deliveries to a webhook may be in flight. A failing webhook gets a single permit: each of its attempts may last
 * until the time limit, and a handful of dead endpoints must not hold every slot (docs/design.md#guarantee-5).
 */
export function permitCount(platform: Stores, webhook: WebhookLimits): number {
  if (webhook.failing_since_ms !== null || webhook.ordered) return 1;
  return webhook.max_in_flight ?? platform.config.deliveries.perWebhook;
}

/**
 * How long a permit outlives its process. A killed process may have held all of a webhook's, and until they expire nothing goes
 * to it; a living process renews in time. Milliseconds.
 */
export const permitTtlMs = ({ config }: Stores): number => config.stalledAfterMs * 2;

export const permitLimits = (platform: Stores, webhook: WebhookLimits): PermitLimits => ({
  permits: permitCount(platform, webhook),
  ttlMs: permitTtlMs(platform),
});

/** Releases permits by name, and has what is due at the webhook sent if it waited for them. Throws `unavailable`. */
export async function releasePermits(
  platform: Stores & Queued,
  webhook: WebhookLimits,
  names: string[],
): Promise<void> {
  const mustDrain = await platform.permits.release(webhook._id, names, permitCount(platform, webhook));
  if (mustDrain) await enqueueDrain(platform, webhook);
}

/** One process's permits at one webhook. */
type Held = [webhookId: string, names: string[]];

/** Renews what `held` returns, permits and drains, until the returned function is called. */
export function renewPermits(platform: Stores & Queued, held: () => Held[]): () => void {
  const ttlMs = permitTtlMs(platform);
  const renew = async () => {
    for (const [webhookId, names] of held()) {
      // While Redis is away no other process acquires them either; those that expired are acquired again.
      if (names.length > 0) await platform.permits.renew(webhookId, names, ttlMs).catch(() => undefined);
    }
  };
  const timer = setInterval(() => void renew(), ttlMs / 4);
  timer.unref();
  return () => clearInterval(timer);
}
