import { groupBy } from "../lib/lists.ts";
import { enqueueAll, type Queues } from "./define-queue.ts";
import { type Drain, deliveries, drainJobId } from "./deliveries.ts";

/** Drains of one webhook due within the same slot are one job, so that they never pile up. Milliseconds. */
const SLOT_MS = 100;

/** A webhook of which something is due. Without its owner, its drain takes turns of its own, as another account would. */
export interface ToDrain {
  webhook_id: string;
  owner_id: string | undefined;
  /** Unix milliseconds. */
  dueAtMs: number;
}

/** Returns the job that drains a webhook of what is due at that moment: at the end of the slot that it is in. */
const drainOf = ({ webhook_id, owner_id, dueAtMs }: ToDrain): Drain => ({
  webhook_id,
  ...(owner_id !== undefined && { account_id: owner_id }),
  reason: "order",
  due_ms: (Math.floor(dueAtMs / SLOT_MS) + 1) * SLOT_MS,
});

/** The id of the job by which a delivery that is due at that moment is sent, if it was enqueued when it was stored. */
export const drainJobIdOf = (webhook_id: string, dueAtMs: number): string =>
  drainJobId(drainOf({ webhook_id, owner_id: undefined, dueAtMs }));

/**
 * Enqueues a job that sends what is due at each of these webhooks, at the end of the slot in which it is. That is always in the
 * future, so that a drain under way never swallows the next one. Throws `unavailable`.
 */
export async function enqueueDrains(
  platform: { queues: Queues; clock: () => number },
  toDrain: ToDrain[],
): Promise<void> {
  const now = platform.clock();
  const drains = new Map(
    toDrain.map(one => {
      const drain = drainOf({ ...one, dueAtMs: Math.max(one.dueAtMs, now) });
      return [drainJobId(drain), drain];
    }),
  );
  for (const some of groupBy([...drains.values()], ({ due_ms }) => String(due_ms)).values()) {
    const delayMs = (some[0]?.due_ms ?? now) - now;
    await enqueueAll(platform.queues, deliveries.jobs.drain, some, { delayMs });
  }
}

/** As `enqueueDrains`, for one webhook, in so many milliseconds. */
export async function enqueueDrain(
  platform: { queues: Queues; clock: () => number },
  { _id: webhook_id, owner_id }: { _id: string; owner_id: string | undefined },
  inMs = 0,
): Promise<void> {
  await enqueueDrains(platform, [{ webhook_id, owner_id, dueAtMs: platform.clock() + inMs }]);
}
