import { hash } from "node:crypto";
import { type Model, mongo, type ProjectionType, type QueryFilter } from "mongoose";
import { LIMITS } from "../limits/catalogue.ts";
import { rowsOf } from "./connections/mongo.ts";
import type { RedisClient } from "./connections/redis.ts";
import type { RedisKeys } from "./keys.ts";
import { cursorIn, type Order, type OrderedRead, readInOrder } from "./order.ts";

const { calculateObjectSize } = mongo.BSON;

/** `after` and `before` are cursors: row ids in the order of ids; a deleted row still bounds its page, because ids are ordered by time. */
export interface PageRequest {
  limit: number;
  after?: string | undefined;
  before?: string | undefined;
}

/** MongoDB takes a limit of 0 as none. */
export const WHOLE_LIST: PageRequest = Object.freeze({ limit: 0 });

export interface Page<Row> {
  /** Newest first, unless they are in another order. */
  rows: Row[];
  totalCount: number;
  /** Of the first and last row, whose ids they are unless the rows are in another order; null on an empty page. */
  startCursor: string | null;
  endCursor: string | null;
}

export interface PageOptions<Row> {
  /** The fields to read; all by default. */
  projection?: ProjectionType<Row>;
  /** Where a large count is cached; `key` names the list with its filter. Without it each page counts all rows. */
  countCache?: { redis: RedisClient; key: string };
  /** Its index begins with the account, on which the filter has no other bound. */
  order?: Order | undefined;
}

/** Up to here a count costs only a few milliseconds of index reading. */
export const EXACT_COUNT = 10_000;
/** A larger count is at most this old, so that a million rows page as fast as a thousand. */
const COUNT_KEPT_SECONDS = 60;

/** Combines a filter with a bound on `_id`, on which the filter may have bounds too. */
function and<Row>(filter: QueryFilter<Row>, bound: Record<string, unknown>): QueryFilter<Row> {
  return { $and: [filter, bound] } as QueryFilter<Row>;
}

/**
 * Returns one page of a collection whose ids are ordered by time, newest first; `before` returns the page just before the
 * cursor (docs/design.md#lists). A page of large rows ends early, after the row with which it exceeds
 * `LIMITS.pageBytes`. The filter's fields need an index that ends in `_id`. Throws `invalid` for a cursor of another order.
 */
export async function pageOf<Row extends { _id: string }>(
  model: Model<Row>,
  filter: QueryFilter<Row>,
  request: PageRequest,
  options: PageOptions<Row> = {},
): Promise<Page<Row>> {
  const { limit, after, before } = request;
  const { order } = options;
  const { where, sort, ...how } = order ? inOrder(filter, order, request) : byIds(filter, request);
  const reading = readUntilFull(
    // The driver holds one batch of documents besides the page; the server ends a batch at 16 MB.
    rowsOf<Row>(
      model.find(where, options.projection).sort(sort).setOptions(how).limit(limit).lean<Row[]>(),
      limit,
    ),
    limit,
  );
  const count = () => countOf(model, filter, options.countCache);
  const isFirst = after === undefined && before === undefined;
  const [{ rows: found }, totalCount] = await Promise.all([
    reading,
    // A list that ends with its first page is counted by it: to find a few rows by a text, all of an account's are read once.
    isFirst ? reading.then(({ rows, isEnd }) => (isEnd ? rows.length : count())) : count(),
  ]);
  const rows = before !== undefined ? found.reverse() : found;
  const cursorOf = (row: Row | undefined) =>
    row === undefined ? null : order ? cursorIn(order, row) : row._id;
  return { rows, totalCount, startCursor: cursorOf(rows.at(0)), endCursor: cursorOf(rows.at(-1)) };
}

/** How a page is read: what selects its rows, and in which order. */
interface Read<Row> extends Partial<Omit<OrderedRead, "sort" | "not">> {
  where: QueryFilter<Row>;
  sort: OrderedRead["sort"];
}

function byIds<Row>(filter: QueryFilter<Row>, { after, before }: PageRequest): Read<Row> {
  const isWhole = after === undefined && before === undefined;
  const bound = { ...(after !== undefined && { $lt: after }), ...(before !== undefined && { $gt: before }) };
  return {
    where: isWhole ? filter : and(filter, { _id: bound }),
    sort: { _id: before === undefined ? -1 : 1 },
  };
}

function inOrder<Row>(filter: QueryFilter<Row>, order: Order, page: PageRequest): Read<Row> {
  const { not, ...read } = readInOrder(order, page);
  return { where: not === undefined ? filter : and(filter, { _id: { $ne: not } }), ...read };
}

/** Reads a page, and whether nothing follows it in its direction, as far as that is known. */
async function readUntilFull<Row>(
  found: AsyncIterable<Row>,
  limit: number,
): Promise<{ rows: Row[]; isEnd: boolean }> {
  const rows: Row[] = [];
  let bytes = 0;
  for await (const row of found) {
    rows.push(row);
    bytes += calculateObjectSize(row as object);
    if (bytes >= LIMITS.pageBytes.value) return { rows, isEnd: false };
  }
  return { rows, isEnd: limit === 0 || rows.length < limit };
}

function countOf<Row>(
  model: Model<Row>,
  filter: QueryFilter<Row>,
  cache: PageOptions<Row>["countCache"],
): Promise<number> {
  return countCached(limit => model.countDocuments(filter, limit === undefined ? {} : { limit }), cache);
}

/** Returns a count, exact up to `EXACT_COUNT`, else up to a minute old; without a cache always exact. */
export async function countCached(
  count: (limit?: number) => Promise<number>,
  cache: PageOptions<unknown>["countCache"],
): Promise<number> {
  if (!cache) return await count();
  const some = await count(EXACT_COUNT + 1);
  if (some <= EXACT_COUNT) return some;
  const kept = await keptCount(cache);
  if (kept !== null) return kept;
  const all = await count();
  await cache.redis.set(cache.key, all, "EX", COUNT_KEPT_SECONDS);
  return all;
}

/** Returns the count that is kept, which is above `EXACT_COUNT`; null without one. */
export async function keptCount({
  redis,
  key,
}: NonNullable<PageOptions<unknown>["countCache"]>): Promise<number | null> {
  const kept = await redis.get(key);
  return kept === null ? null : Number(kept);
}

/** Returns where the count of an account's list with these filters is cached. */
export function countCacheOf(
  { redis, keys }: { redis: RedisClient; keys: RedisKeys },
  ownerId: string,
  list: string,
  filters: object = {},
): NonNullable<PageOptions<unknown>["countCache"]> {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  // A filter is anybody's text, and may be long.
  const suffix = given.length === 0 ? "" : `-${hash("sha256", JSON.stringify(given.sort()), "base64url")}`;
  return { redis, key: keys.listCount(ownerId, `${list}${suffix}`) };
}

/** Returns one page of rows that were all read, of which there are few, the newest first. */
export function pageOfRows<Row extends { id: string }>(
  all: readonly Row[],
  { limit, after, before }: PageRequest,
): Page<Row> {
  const rows = all.filter(
    ({ id }) => (after === undefined || id < after) && (before === undefined || id > before),
  );
  const most = limit === WHOLE_LIST.limit ? rows.length : limit;
  const found = before === undefined ? rows.slice(0, most) : rows.slice(Math.max(0, rows.length - most));
  return {
    rows: found,
    totalCount: all.length,
    startCursor: found.at(0)?.id ?? null,
    endCursor: found.at(-1)?.id ?? null,
  };
}

/** Returns the page with each row presented by `show`. */
export function mapPage<Row, Shown>(page: Page<Row>, show: (row: Row) => Shown): Page<Shown> {
  return { ...page, rows: page.rows.map(show) };
}
