import type { Model, ProjectionType, QueryFilter } from "mongoose";
import type { RedisClient } from "./redis.ts";

/** `after` and `before` are row ids; a row that is gone still bounds its page, since ids are ordered by time. */
export interface PageRequest {
  limit: number;
  after?: string | undefined;
  before?: string | undefined;
}

export interface Page<Row> {
  /** Newest first. */
  rows: Row[];
  totalCount: number;
  /** Ids of the first and the last row; null on an empty page. */
  startCursor: string | null;
  endCursor: string | null;
}

export interface PageOptions<Row> {
  /** What is read of each row; all of it unless told. */
  projection?: ProjectionType<Row>;
  /** Where a large count is kept; `key` names the list with its filter. Without it each page counts all rows. */
  countCache?: { redis: RedisClient; key: string };
}

/** Up to here a count costs no more than some milliseconds of index reading. */
export const EXACT_COUNT = 10_000;
/** A count above that is at most this old, so that a million rows page as fast as a thousand. */
const COUNT_KEPT_SECONDS = 60;

/** A filter and a bound on `_id`, which the filter may have bounds on too. */
function and<Row>(filter: QueryFilter<Row>, bound: Record<string, unknown>): QueryFilter<Row> {
  return { $and: [filter, bound] } as QueryFilter<Row>;
}

/**
 * One page of a collection whose ids are ordered by time, newest first; `before` gives the page just before the cursor
 * (design.md, "Lists"). The filter's fields need an index that ends in `_id`.
 */
export async function pageOf<Row extends { _id: string }>(
  model: Model<Row>,
  filter: QueryFilter<Row>,
  { limit, after, before }: PageRequest,
  options: PageOptions<Row> = {},
): Promise<Page<Row>> {
  const backwards = before !== undefined;
  const bound = { ...(after !== undefined && { $lt: after }), ...(backwards && { $gt: before }) };
  const bounded = after === undefined && !backwards ? filter : and(filter, { _id: bound });
  const [found, totalCount] = await Promise.all([
    model
      .find(bounded, options.projection)
      .sort({ _id: backwards ? 1 : -1 })
      .limit(limit)
      .lean<Row[]>(),
    countOf(model, filter, options.countCache),
  ]);
  const rows = backwards ? found.reverse() : found;
  return { rows, totalCount, startCursor: rows.at(0)?._id ?? null, endCursor: rows.at(-1)?._id ?? null };
}

async function countOf<Row>(
  model: Model<Row>,
  filter: QueryFilter<Row>,
  cache: PageOptions<Row>["countCache"],
): Promise<number> {
  if (!cache) return await model.countDocuments(filter);
  const some = await model.countDocuments(filter, { limit: EXACT_COUNT + 1 });
  if (some <= EXACT_COUNT) return some;
  const kept = await cache.redis.get(cache.key);
  if (kept !== null) return Number(kept);
  const all = await model.countDocuments(filter);
  await cache.redis.set(cache.key, all, "EX", COUNT_KEPT_SECONDS);
  return all;
}

/** A page whose rows are shown another way. */
export function mapPage<Row, Shown>(page: Page<Row>, show: (row: Row) => Shown): Page<Shown> {
  return { ...page, rows: page.rows.map(show) };
}
