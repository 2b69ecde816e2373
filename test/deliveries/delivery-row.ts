import { eventMs, firstIdAt, newId } from "../../src/lib/ids.ts";
import { Deliveries, type Delivery } from "../../src/models/delivery.ts";
import type { Stores } from "../../src/platform.ts";

/** Stores a delivery that failed, as a worker does, with an id that begins with the time of its event. */
export async function storeDelivery(
  { mongo }: Pick<Stores, "mongo">,
  own: Pick<Delivery, "owner_id" | "webhook_id" | "emitter_id"> & Partial<Delivery>,
): Promise<Delivery> {
  const { event_id = "1700000000000-7" } = own;
  const row: Delivery = {
    _id: `${firstIdAt("dlv", eventMs(event_id))}${newId("dlv").slice(-9)}`,
    subscription_id: "sub_x",
    emit_id: `${own.emitter_id}-1`,
    event_id,
    event_name: "",
    event_score: 0,
    state: "failed",
    reason: null,
    generation: 1,
    retry_index: 1,
    trigger: "schedule",
    attempts: [],
    next_attempt_at_ms: null,
    sweep_at_ms: null,
    created_at: new Date(),
    finished_at_ms: 1,
    ...own,
  };
  await Deliveries(mongo).insertOne(row);
  return row;
}
