import { LIMITS } from "../../limits/catalogue.ts";
import { Deliveries, type Delivery } from "../../models/delivery.ts";
import type { Queued, Stores } from "../../platform.ts";
import { enqueueDrains } from "../../queues/deliveries.ts";

/**
 * Whether the attempt of a delivery is so far away that no drain is enqueued for it: thousands of failing deliveries would fill
 * Redis for hours. The sweep drains its webhook once it is due (docs/decisions/0006-deliveries.md).
 */
export const isFar = (delayMs: number): boolean => delayMs > LIMITS.retryJobMs.value;

/** Whether a delivery was left to the sweep when it was stored: only then the sweep looks at it as soon as it is due. */
export const isLeftToSweep = ({
  next_attempt_at_ms,
  sweep_at_ms,
}: Pick<Delivery, "next_attempt_at_ms" | "sweep_at_ms">): boolean =>
  next_attempt_at_ms !== null && next_attempt_at_ms === sweep_at_ms;

/** The fields of a pending delivery whose attempt is due in so many milliseconds, counted from `nowMs`. */
export function dueFields(
  { clock, config }: Stores,
  delayMs: number,
  nowMs = clock(),
): { next_attempt_at_ms: number; sweep_at_ms: number } {
  const at = nowMs + delayMs;
  return { next_attempt_at_ms: at, sweep_at_ms: isFar(delayMs) ? at : at + config.sweepEveryMs };
}

/**
 * Has the webhooks of stored deliveries drained when these are due, but for those that have ended or are left to the sweep. Throws
 * `unavailable`; then the sweep finds them.
 */
export async function drainWhenDue(
  platform: Stores & Queued,
  rows: Pick<Delivery, "webhook_id" | "owner_id" | "next_attempt_at_ms" | "sweep_at_ms">[],
): Promise<void> {
  const toDrain = rows.flatMap(row => {
    const { webhook_id, owner_id, next_attempt_at_ms: dueAtMs } = row;
    return dueAtMs === null || isLeftToSweep(row) ? [] : [{ webhook_id, owner_id, dueAtMs }];
  });
  await enqueueDrains(platform, toDrain);
}

/** What a requeue changes besides the generation: the delivery is due now, and the retry schedule restarts. */
const requeuedFields = (platform: Stores) =>
  ({
    state: "pending",
    reason: null,
    retry_index: 0,
    trigger: "manual",
    ...dueFields(platform, 0),
    finished_at_ms: null,
  }) as const;

/** A delivery to be requeued; without its generation, whatever became of it since it was read. */
export type ToRequeue = Pick<Delivery, "_id" | "webhook_id" | "owner_id"> & { generation?: number };

/**
 * Has deliveries attempted again now, whatever their state; this replaces their scheduled attempts. One that has moved on from its
 * generation stays as it is. Returns how many are requeued. Throws `unavailable`; then it may be repeated.
 */
export async function requeue(platform: Stores & Queued, rows: ToRequeue[]): Promise<number> {
  if (rows.length === 0) return 0;
  const fields = requeuedFields(platform);
  const { modifiedCount } = await Deliveries(platform.mongo).bulkWrite(
    rows.map(({ _id, generation }) => ({
      updateOne: {
        filter: { _id, ...(generation !== undefined && { generation }) },
        update: { $set: fields, $inc: { generation: 1 }, $unset: { in_flight_until_ms: 1 } },
      },
    })),
    { ordered: false },
  );
  await drainWhenDue(
    platform,
    rows.map(row => ({ ...row, ...fields })),
  );
  return modifiedCount;
}
