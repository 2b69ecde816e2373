import { Deliveries, type Delivery } from "../../models/delivery.ts";
import type { Stores } from "../../platform.ts";
import type { PageRequest } from "../../store/page.ts";
import type { Found, Selection } from "./selection.ts";
import { searchedAmong } from "./webhooks.ts";

/** So many of the next deliveries of all accounts are read for a page. */
const READ = 2000;
/** Some may be of webhooks that were deleted. */
const SPARE = 20;

/**
 * Returns the rows of a page if all of them are among the next deliveries of the whole installation; otherwise null. Of an account
 * with very many webhooks they mostly are, and it costs a tenth of merging so many webhooks by their own index.
 */
export async function findAmongNewest(
  { mongo }: Stores,
  { webhooks, indexed, read }: Selection,
  { limit, after, before }: PageRequest,
): Promise<Found | null> {
  const bound = { ...(after !== undefined && { $lt: after }), ...(before !== undefined && { $gt: before }) };
  const { $and: ranges = [], ...others } = indexed;
  const bounds = [...(Object.keys(bound).length > 0 ? [{ _id: bound }] : []), ...ranges];
  const rows = await Deliveries(mongo)
    .aggregate<Delivery>([
      { $match: bounds.length > 0 ? { $and: bounds } : {} },
      { $sort: { _id: before === undefined ? -1 : 1 } },
      { $limit: READ },
      { $match: { ...others, ...read, owner_id: webhooks.owner } },
      { $limit: limit + SPARE },
      { $set: { attempts: { $slice: ["$attempts", -1] } } },
    ])
    .hint({ _id: 1 });
  const ids = rows.map(({ webhook_id }) => webhook_id);
  const searched = await searchedAmong(mongo, webhooks, ids);
  const found = rows.filter(({ webhook_id }) => searched.has(webhook_id)).slice(0, limit);
  return found.length < limit ? null : { rows: found, readUpTo: found.at(-1)?._id ?? null };
}
