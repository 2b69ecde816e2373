import { enqueue, type Queues } from "./define-queue.ts";
import { type Drain, deliveries } from "./deliveries.ts";

/** Drains of one webhook due within the same slot are one job, so that they never pile up. Milliseconds. */
const SLOT_MS = 100;

/**
 * Enqueues a job that takes up what waits at a webhook, due at the end of the slot in which `inMs` have passed. That is
 * always in the future, so that a drain under way never swallows the next one. Without its owner, a drain takes turns of its own,
 * as another account would, and an account that is alone then makes room for it. Throws `unavailable`.
 */
export async function enqueueDrain(
  platform: { queues: Queues; clock: () => number },
  { _id: webhook_id, owner_id }: { _id: string; owner_id: string | undefined },
  reason: Drain["reason"],
  inMs: number,
  slotMs = SLOT_MS,
): Promise<void> {
  const now = platform.clock();
  const due_ms = (Math.floor((now + inMs) / slotMs) + 1) * slotMs;
  const drain = { webhook_id, ...(owner_id !== undefined && { account_id: owner_id }), reason, due_ms };
  await enqueue(platform.queues, deliveries.jobs.drain, drain, { delayMs: due_ms - now });
}
