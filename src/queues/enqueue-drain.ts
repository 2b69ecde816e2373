import { enqueue, type Queues } from "./define-queue.ts";
import { type Drain, deliveries } from "./deliveries.ts";

/** Drains of one webhook due within the same slot are one job, so that they never pile up. Milliseconds. */
const SLOT_MS = 100;

/**
 * Enqueues a job that takes up what waits at a webhook, due at the end of the slot in which `inMs` have passed. That is
 * always in the future, so that a drain under way never swallows the next one. `webhook` is its id where its owner is not
 * known; then the drain takes turns of its own. Throws `unavailable`.
 */
export async function enqueueDrain(
  platform: { queues: Queues; clock: () => number },
  webhook: string | { _id: string; owner_id: string },
  reason: Drain["reason"],
  inMs: number,
  slotMs = SLOT_MS,
): Promise<void> {
  const now = platform.clock();
  const due_ms = (Math.floor((now + inMs) / slotMs) + 1) * slotMs;
  const whose =
    typeof webhook === "string"
      ? { webhook_id: webhook }
      : { webhook_id: webhook._id, account_id: webhook.owner_id };
  const drain = { ...whose, reason, due_ms };
  await enqueue(platform.queues, deliveries.jobs.drain, drain, { delayMs: due_ms - now });
}
