import { enqueue, type Queues } from "./define-queue.ts";
import { deliveries, type LineTurn } from "./deliveries.ts";

/** Turns of one webhook within this time are one job, so that they never pile up. Milliseconds. */
const TURN_MS = 100;

/**
 * Enqueues the turn of those that wait at a webhook, at the end of the `slotMs` in which `inMs` have passed. That is
 * always in the future, so that a turn under way never swallows the next one.
 */
export async function enqueueTurn(
  platform: { queues: Queues; clock: () => number },
  webhookId: string,
  line: LineTurn["line"],
  inMs: number,
  slotMs = TURN_MS,
): Promise<void> {
  const now = platform.clock();
  const due_ms = (Math.floor((now + inMs) / slotMs) + 1) * slotMs;
  await enqueue(
    platform.queues,
    deliveries,
    { webhook_id: webhookId, line, due_ms },
    { delayMs: due_ms - now },
  );
}
