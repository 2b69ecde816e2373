import { findSelected, selectDeliveries } from "../deliveries/select/select.ts";
import { wordsOfText } from "../lib/payload-words.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { Deliveries, type Delivery } from "../models/delivery.ts";
import type { Stores } from "../platform.ts";
import { type Draft, type Found, mayBeId, owned, RANK, type Rank, rankOfId, type Search } from "./draft.ts";
import { scan } from "./scan.ts";

/** What is read of a delivery. */
export const DELIVERY_FIELDS = {
  owner_id: 1,
  webhook_id: 1,
  emitter_id: 1,
  event_id: 1,
  state: 1,
  created_at: 1,
};

/** Returns the hit of a delivery. */
export const draftOfDelivery = (
  row: Pick<Delivery, "_id" | "owner_id" | "webhook_id" | "emitter_id" | "event_id" | "state" | "created_at">,
  rank: Rank,
): Draft => ({
  kind: "delivery",
  ...owned(row),
  name: { of: [row.emitter_id, row.webhook_id] },
  detail: row.event_id,
  state: row.state,
  at_ms: row.created_at.getTime(),
  rank,
});

/** Finds deliveries by their ids, which receivers know as `webhook-id`. */
export async function findDeliveries({ mongo }: Stores, search: Search): Promise<Found> {
  if (!mayBeId(search.q, ["dlv"])) return { drafts: [] };
  const { rows, isPartial } = await scan(Deliveries(mongo), search, DELIVERY_FIELDS);
  return { drafts: rows.map(row => draftOfDelivery(row, rankOfId(row._id, search.q))), isPartial };
}

/** More of them would not be shown. */
const FOUND_BY_TEXT = { limit: LIMITS.searchHitsOfKind.value };

/** Finds the newest deliveries to the account's webhooks whose payload has the words, as `text` of `GET /deliveries` does. */
export async function findByText(platform: Stores, { q, owner, owners }: Search): Promise<Found> {
  if (platform.config.payloadSearchWords === 0 || wordsOfText(q).length === 0) return { drafts: [] };
  const selection = await selectDeliveries(platform, { owner, owners }, { text: q });
  const { rows, isEnd } = await findSelected(platform, selection, FOUND_BY_TEXT);
  return {
    drafts: rows.map(row => draftOfDelivery(row, RANK.text)),
    isPartial: rows.length < FOUND_BY_TEXT.limit && !isEnd,
  };
}
