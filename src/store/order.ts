import { mongo } from "mongoose";
import { Type } from "typebox";
import { invalidField } from "../lib/errors.ts";
import { BY_LAST_TIMES, type LastTimes } from "./last-times.ts";

/** How a list may be sorted, by the field that has the moment. */
const FIELDS = {
  last_event: "last_event_ms",
  last_success: "last_success_ms",
  last_error: "last_error_ms",
} as const satisfies Record<string, keyof LastTimes>;

/** The parameter by which a list of things that have `LastTimes` is sorted. */
export const SortParam = Type.Optional(
  Type.Unsafe<keyof typeof FIELDS>({
    type: "string",
    enum: Object.keys(FIELDS),
    description:
      "The latest first by this moment, and last those that have none; otherwise by their ids, newest first. A cursor belongs to its order.",
  }),
);

/** An order of an account's list besides that of the ids: the latest first, and those without a moment at the end. */
export interface Order {
  ownerId: string;
  field: keyof LastTimes;
}

/** Returns the order of an account's list; undefined for that of the ids. */
export const orderOf = (ownerId: string, sort: keyof typeof FIELDS | undefined): Order | undefined =>
  sort && { ownerId, field: FIELDS[sort] };

/** How a page is read in an order: a range of the order's index, from or to where the cursor is. */
export interface OrderedRead {
  sort: Record<string, 1 | -1>;
  hint: Record<string, 1 | -1>;
  min?: Record<string, unknown>;
  max?: Record<string, unknown>;
  /** The row of the cursor, which belongs to the page before; if it has moved since, it is on an earlier one. */
  not?: string;
}

/** Of an index entry that is before, or behind, all others of its account. */
const [BEFORE_ALL, BEHIND_ALL] = [new mongo.MaxKey(), new mongo.MinKey()];

/**
 * Returns how the page is read. Bounds of the index and not a filter, because those without the field are part of the order, and no
 * comparison selects them together with the others. Throws `invalid` for a cursor of another order.
 */
export function readInOrder(
  { ownerId, field }: Order,
  { after, before }: { after?: string | undefined; before?: string | undefined },
): OrderedRead {
  const entry = (value: unknown, _id: unknown) => ({ owner_id: ownerId, [field]: value, _id });
  const at = (name: "after" | "before", cursor: string) => {
    const [, ms, id] = /^(\d*) (.+)$/.exec(cursor) ?? [];
    if (id === undefined) throw invalidField("query", name, "is a cursor of another order");
    return { id, entry: entry(ms ? Number(ms) : null, id) };
  };
  const hint = BY_LAST_TIMES[field];
  if (before !== undefined) {
    const sort = { [field]: 1, _id: 1 } as const;
    return { sort, hint, min: entry(BEFORE_ALL, BEFORE_ALL), max: at("before", before).entry };
  }
  const sort = { [field]: -1, _id: -1 } as const;
  if (after === undefined) return { sort, hint };
  const { id, entry: min } = at("after", after);
  return { sort, hint, min, max: entry(BEHIND_ALL, BEHIND_ALL), not: id };
}

/** Returns the cursor of a row in an order. */
export const cursorIn = ({ field }: Order, row: { _id: string }): string =>
  `${(row as LastTimes)[field] ?? ""} ${row._id}`;
