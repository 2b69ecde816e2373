import { mongo } from "mongoose";
import { Type } from "typebox";
import { invalidField } from "../lib/errors.ts";
import { BY_LAST_TIMES, type LastTimes } from "./last-times.ts";

/** The index that has an account's rows in an order: by the account, a field, and the newest first where that is equal. */
type OrderIndex = Readonly<{ owner_id: 1; _id: -1; [field: string]: 1 | -1 }>;

/** By what a list may be sorted besides the ids. */
export interface SortKey {
  /** A path of the row; a moment, or an id. */
  field: string;
  /** Whether it has moments in Unix milliseconds, which rows may lack: those are last, because their index has the latest first. */
  isMoment: boolean;
  index: OrderIndex;
}

/** A moment that has an index under its field. */
const moment = (field: keyof LastTimes): SortKey => ({ field, isMoment: true, index: BY_LAST_TIMES[field] });

const LAST_TIME_KEYS = {
  last_event: moment("last_event_ms"),
  last_success: moment("last_success_ms"),
  last_error: moment("last_error_ms"),
} as const satisfies Record<string, SortKey>;

/** Returns the parameter that names one of these keys. */
export const sortParam = <Name extends string>(keys: Readonly<Record<Name, SortKey>>, description: string) =>
  Type.Optional(
    Type.Unsafe<Name>({
      type: "string",
      enum: Object.keys(keys),
      description: `${description}; otherwise by their ids, newest first. A cursor belongs to its order.`,
    }),
  );

/** The parameter by which a list of things that have `LastTimes` is sorted. */
export const SortParam = sortParam(
  LAST_TIME_KEYS,
  "The latest first by this moment, and last those that have none",
);

/** An order of an account's list besides that of the ids. */
export interface Order extends SortKey {
  ownerId: string;
}

/** Returns the order of an account's list of things that have `LastTimes`; undefined for that of the ids. */
export const orderOf = (ownerId: string, sort: keyof typeof LAST_TIME_KEYS | undefined): Order | undefined =>
  sort && { ownerId, ...LAST_TIME_KEYS[sort] };

/** How a page is read in an order: a range of the order's index, from or to where the cursor is. */
export interface OrderedRead {
  sort: Record<string, 1 | -1>;
  hint: Record<string, 1 | -1>;
  min?: Record<string, unknown>;
  max?: Record<string, unknown>;
  /** The row of the cursor, which belongs to the page before; if it has moved since, it is on an earlier one. */
  not?: string;
}

const [LEAST, GREATEST] = [new mongo.MinKey(), new mongo.MaxKey()];

/** A cursor: the value of the row's field, empty without one, and its id. */
const CURSOR = /^(\S*) (\S+)$/;

/**
 * Returns how the page is read. Bounds of the index and not a filter, because those without the field are part of the order, and no
 * comparison selects them together with the others. Throws `invalid` for a cursor of another order.
 */
export function readInOrder(
  { ownerId, field, isMoment, index: hint }: Order,
  { after, before }: { after?: string | undefined; before?: string | undefined },
): OrderedRead {
  const direction = hint[field] ?? 1;
  const entry = (value: unknown, _id: unknown) => ({ owner_id: ownerId, [field]: value, _id });
  const at = (name: "after" | "before", cursor: string) => {
    const [, value = "", id] = CURSOR.exec(cursor) ?? [];
    if (id === undefined || /^\d*$/.test(value) !== isMoment) {
      throw invalidField("query", name, "is a cursor of another order");
    }
    return { id, entry: entry(isMoment ? (value === "" ? null : Number(value)) : value, id) };
  };
  if (before !== undefined) {
    const sort = { [field]: direction === 1 ? -1 : 1, _id: 1 } as const;
    // Before all others of the account, as the index goes.
    const min = entry(direction === 1 ? LEAST : GREATEST, GREATEST);
    return { sort, hint, min, max: at("before", before).entry };
  }
  const sort = { [field]: direction, _id: -1 } as const;
  if (after === undefined) return { sort, hint };
  const { id, entry: min } = at("after", after);
  return { sort, hint, min, max: entry(direction === 1 ? GREATEST : LEAST, LEAST), not: id };
}

/** Returns the cursor of a row in an order. */
export const cursorIn = ({ field }: Order, row: { _id: string }): string =>
  `${valueAt(row, field) ?? ""} ${row._id}`;

/** Returns what a row has at a path. */
const valueAt = (row: object, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], row);
