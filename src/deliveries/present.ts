import { shownOrg } from "../accounts/access.ts";
import { unixSeconds } from "../lib/time.ts";
import type { ActionOutput, AttemptRecord, Delivery } from "../models/delivery.ts";
import type { Recovery } from "../models/webhook.ts";
import { traceIdOf } from "../tracing/trace-context.ts";
import type { DeliveryView, DeliveryWithAttempts, RecoveryView } from "./schema.ts";

/** Returns a delivery as its owner sees it in lists: with its last attempt only. */
export function presentDelivery(delivery: Delivery): DeliveryView {
  const last = delivery.attempts.at(-1);
  return {
    id: delivery._id,
    ...shownOrg(delivery.owner_id),
    webhook_id: delivery.webhook_id,
    subscription_id: delivery.subscription_id,
    emitter_id: delivery.emitter_id,
    event_id: delivery.event_id,
    event_name: delivery.event_name,
    state: delivery.state,
    reason: delivery.reason,
    attempts_made: last?.number ?? 0,
    last_attempt: last ? withoutOutput(last) : null,
    next_attempt_at_ms: delivery.next_attempt_at_ms,
    finished_at_ms: delivery.finished_at_ms,
    created_at: unixSeconds(delivery.created_at.getTime()),
    trace_id: delivery.trace === undefined ? null : traceIdOf(delivery.trace),
  };
}

/** Returns a delivery with all of its stored attempts, oldest first. */
export function presentWithAttempts(delivery: Delivery): DeliveryWithAttempts {
  const attempts = delivery.attempts.map(({ output, ...attempt }) => ({
    ...attempt,
    ...(output !== undefined && { output: JSON.parse(output) as ActionOutput }),
  }));
  return { ...presentDelivery(delivery), attempts };
}

const withoutOutput = ({ output: _output, ...attempt }: AttemptRecord) => attempt;

/** Returns a recovery as the webhook's owner sees it. */
export function presentRecovery(recovery: Recovery): RecoveryView {
  const { count, recovered, state, since_ms, started_at_ms, finished_at_ms } = recovery;
  return { count, recovered, state, since: Math.floor(since_ms / 1000), started_at_ms, finished_at_ms };
}
