import type { QueryFilter } from "mongoose";
import { Deliveries, type Delivery } from "../../models/delivery.ts";
import type { Stores } from "../../platform.ts";
import { countByText } from "./by-text.ts";
import { filterOf, hasText, indexedFilters, indexOf } from "./select.ts";
import type { Selection } from "./selection.ts";

/** Returns how many deliveries the indexes select. */
export const countIndexed = async (platform: Stores, selection: Selection): Promise<number> =>
  sum(await countEach(platform, await indexedFilters(selection)));

/**
 * Returns how many deliveries the indexes select, or `most` or more if there are as many. One query is asked, then two, four and so
 * on: an account with very many webhooks costs little more than another one, because a few of them have as many.
 */
export async function countUpTo(platform: Stores, selection: Selection, most: number): Promise<number> {
  const { first, hasMore } = selection.webhooks;
  let count = sum(await countEach(platform, [filterOf(first, selection)], { limit: most }));
  if (!hasMore || count >= most) return count;
  const [, ...others] = await indexedFilters(selection);
  for (let at = 0, size = 2; at < others.length && count < most; at += size, size *= 2) {
    count += sum(await countEach(platform, others.slice(at, at + size), { limit: most }));
  }
  return count;
}

const countEach = (
  { mongo }: Stores,
  filters: QueryFilter<Delivery>[],
  options: { limit?: number } = {},
): Promise<number[]> => Promise.all(filters.map(filter => Deliveries(mongo).countDocuments(filter, options)));

/**
 * Returns how many of the newest `most` deliveries that the indexes select are selected by what is read, too; of a text, of the newest
 * events with its words. If there are more of them, each query reads its part of `most`.
 */
export async function countRead(platform: Stores, selection: Selection, most: number): Promise<number> {
  if (hasText(selection)) return (await countByText(platform, selection)).count;
  const filters = await indexedFilters(selection);
  const isPartial = filters.length > 1 && (await countUpTo(platform, selection, most + 1)) > most;
  const limit = isPartial ? Math.ceil(most / filters.length) : most;
  const counts = filters.map(async filter => {
    const [counted] = await Deliveries(platform.mongo)
      .aggregate<{ count: number }>([
        { $match: filter },
        { $sort: { _id: -1 } },
        { $limit: limit },
        { $match: selection.read ?? {} },
        { $count: "count" },
      ])
      .hint(indexOf(filter));
    return counted?.count ?? 0;
  });
  return sum(await Promise.all(counts));
}

/** Returns how many deliveries are selected, counted among `most` of them, and whether there are no more. */
export async function countSelected(
  platform: Stores,
  selection: Selection,
  most: number,
): Promise<{ count: number; isExact: boolean }> {
  if (hasText(selection)) return await countByText(platform, selection);
  const indexed = await countUpTo(platform, selection, most + 1);
  const count =
    selection.read === null ? Math.min(indexed, most) : await countRead(platform, selection, most);
  return { count, isExact: indexed <= most };
}

const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0);
