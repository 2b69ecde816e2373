import { Deliveries, type Delivery } from "../../models/delivery.ts";
import type { Queued, Stores } from "../../platform.ts";
import { drainWhenDue, requeuedFields } from "../attempt/due-fields.ts";

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
