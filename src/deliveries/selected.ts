import { Deliveries, type Delivery } from "../models/delivery.ts";
import type { Stores, Working } from "../platform.ts";
import { enqueueDrains } from "../queues/deliveries.ts";
import { endDelivery } from "./attempt/record.ts";
import { whyNotRetried } from "./manual-retry.ts";
import type { SelectedDeliveries } from "./schema.ts";

/** So many at a time: each asks the stores for a few things. */
const AT_ONCE = 10;

/** What became of each, and the accounts of those to which something was done. */
export interface ActedOn {
  selected: SelectedDeliveries;
  ownerIds: string[];
}

/** Does something to one delivery, and returns why it can't be done; null if it is done. */
type Act = (delivery: Delivery) => Promise<string | null>;

/**
 * Retries the deliveries with these ids as `retryDelivery` does, and returns what became of each: one that can't be retried keeps no
 * other from it. Throws `unavailable`; some are retried by then.
 */
export const retrySelected = (platform: Working, ids: string[], owners: string[]): Promise<ActedOn> =>
  actOn(platform, ids, { owners, act: one => whyNotRetried(platform, one) });

/**
 * Cancels the pending ones of the deliveries with these ids, and returns what became of each. An attempt that is in flight goes on, and
 * its result is logged and changes nothing. What waited behind one of them at an ordered webhook is sent next.
 */
export async function cancelSelected(platform: Working, ids: string[], owners: string[]): Promise<ActedOn> {
  const waited = new Map<string, string>();
  const cancel: Act = async delivery => {
    const { state, reason, webhook_id, owner_id } = delivery;
    if (state === "cancelled" && reason === "by-request") return null;
    if (state !== "pending") return `it is ${state} already`;
    if (!(await endDelivery(platform, delivery, "by-request"))) return "it was attempted just now";
    waited.set(webhook_id, owner_id);
    return null;
  };
  const acted = await actOn(platform, ids, { owners, act: cancel });
  const dueAtMs = platform.clock();
  await enqueueDrains(
    platform,
    [...waited].map(([webhook_id, owner_id]) => ({ webhook_id, owner_id, dueAtMs })),
  );
  return acted;
}

async function actOn(
  platform: Stores,
  ids: string[],
  { owners, act }: { owners: string[]; act: Act },
): Promise<ActedOn> {
  const wanted = [...new Set(ids)];
  const rows = await Deliveries(platform.mongo)
    .find({ _id: { $in: wanted }, owner_id: { $in: owners } })
    .lean<Delivery[]>();
  const byId = new Map(rows.map(row => [row._id, row]));
  const outcomeOf = async (id: string): Promise<SelectedDeliveries["results"][number]> => {
    const delivery = byId.get(id);
    if (!delivery) return { id, result: "not-found", reason: null };
    const reason = await act(delivery);
    return { id, result: reason === null ? "done" : "conflict", reason };
  };
  const results: SelectedDeliveries["results"] = [];
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    results.push(...(await Promise.all(wanted.slice(at, at + AT_ONCE).map(outcomeOf))));
  }
  const done = results.filter(({ result }) => result === "done");
  const ownerIds = [...new Set(done.flatMap(({ id }) => byId.get(id)?.owner_id ?? []))];
  return { selected: { done: done.length, results }, ownerIds };
}
