import { isDeepStrictEqual } from "node:util";
import { invalidField } from "../lib/errors.ts";

/**
 * Which events a subscription wants, as JSON (docs/filters.md). Keys are paths into the event (`issue.labels.0.name`)
 * with a value to equal or an object of operators; `$and`, `$or`, `$not` combine filters. All keys must hold.
 */
export type Filter = { [key: string]: unknown };

/** So that matching costs little, whoever wrote it. */
export const MAX_FILTER_BYTES = 4096;
const MAX_DEPTH = 8;

const number = (value: unknown): value is number => typeof value === "number";
const text = (value: unknown): value is string => typeof value === "string";
const list = (value: unknown): value is unknown[] => Array.isArray(value);
const record = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Numbers with numbers and texts with texts; all else has no order. */
function compare(value: unknown, bound: unknown): number {
  if (number(value) && number(bound)) return value - bound;
  if (text(value) && text(bound)) return value < bound ? -1 : value > bound ? 1 : 0;
  return Number.NaN;
}

type Test = (value: unknown, operand: unknown) => boolean;

const ORDER_OPERAND = "must be a number or a text";
const LIST_OPERAND = "must be a list";

/** Each operator: what it takes, and when it holds; `value` is undefined where the path leads nowhere. */
const OPERATORS: Record<string, { takes: (operand: unknown) => string | null; holds: Test }> = {
  $eq: { takes: () => null, holds: (value, operand) => isDeepStrictEqual(value, operand) },
  $ne: { takes: () => null, holds: (value, operand) => !isDeepStrictEqual(value, operand) },
  $gt: { takes: ordered, holds: (value, operand) => compare(value, operand) > 0 },
  $gte: { takes: ordered, holds: (value, operand) => compare(value, operand) >= 0 },
  $lt: { takes: ordered, holds: (value, operand) => compare(value, operand) < 0 },
  $lte: { takes: ordered, holds: (value, operand) => compare(value, operand) <= 0 },
  $in: { takes: listed, holds: (value, operand) => includes(operand, value) },
  $nin: { takes: listed, holds: (value, operand) => !includes(operand, value) },
  $exists: {
    takes: operand => (typeof operand === "boolean" ? null : "must be true or false"),
    holds: (value, operand) => (value !== undefined) === operand,
  },
  $contains: {
    takes: () => null,
    holds: (value, operand) =>
      text(value) && text(operand) ? value.includes(operand) : list(value) && includes(value, operand),
  },
  $startsWith: {
    takes: operand => (text(operand) ? null : "must be a text"),
    holds: (value, operand) => text(value) && text(operand) && value.startsWith(operand),
  },
};

function ordered(operand: unknown): string | null {
  return number(operand) || text(operand) ? null : ORDER_OPERAND;
}

function listed(operand: unknown): string | null {
  return list(operand) ? null : LIST_OPERAND;
}

function includes(operand: unknown, value: unknown): boolean {
  return list(operand) && operand.some(entry => isDeepStrictEqual(entry, value));
}

const isOperators = (condition: unknown): condition is Record<string, unknown> =>
  record(condition) && Object.keys(condition).some(key => key.startsWith("$"));

/** Checks a filter at the door. Throws `invalid` naming the place; what passes is trusted by `matches`. */
export function checkFilter(filter: unknown, path = "filter", depth = 0): asserts filter is Filter {
  const refuse = (at: string, message: string) => invalidField("body", at, message);
  if (!record(filter)) throw refuse(path, "must be an object");
  if (depth === 0 && Buffer.byteLength(JSON.stringify(filter)) > MAX_FILTER_BYTES) {
    throw refuse(path, `must be at most ${MAX_FILTER_BYTES} bytes`);
  }
  if (depth > MAX_DEPTH) throw refuse(path, `must not be nested deeper than ${MAX_DEPTH}`);
  for (const [key, condition] of Object.entries(filter)) {
    const at = `${path}.${key}`;
    if (key === "$and" || key === "$or") {
      if (!list(condition) || condition.length === 0) throw refuse(at, "must be a list of filters");
      for (const [i, inner] of condition.entries()) checkFilter(inner, `${at}.${i}`, depth + 1);
    } else if (key === "$not") {
      checkFilter(condition, at, depth + 1);
    } else if (key === "" || key.startsWith("$")) {
      throw refuse(at, "is no path and none of $and, $or, $not");
    } else if (isOperators(condition)) {
      for (const [name, operand] of Object.entries(condition)) {
        const operator = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
        if (!operator) throw refuse(`${at}.${name}`, `is none of ${Object.keys(OPERATORS).join(", ")}`);
        const complaint = operator.takes(operand);
        if (complaint) throw refuse(`${at}.${name}`, complaint);
      }
    }
  }
}

/** The value a path leads to; own properties only, so that no prototype is ever looked at. */
export function valueAt(event: unknown, path: string): unknown {
  let value = event;
  for (const step of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

/** True when the event is wanted. Pure; never throws for a checked filter, whatever the event is. */
export function matches(filter: Filter, event: unknown): boolean {
  return Object.entries(filter).every(([key, condition]) => {
    if (key === "$and") return (condition as Filter[]).every(inner => matches(inner, event));
    if (key === "$or") return (condition as Filter[]).some(inner => matches(inner, event));
    if (key === "$not") return !matches(condition as Filter, event);
    const value = valueAt(event, key);
    if (!isOperators(condition)) return isDeepStrictEqual(value, condition);
    return Object.entries(condition).every(
      ([name, operand]) => OPERATORS[name]?.holds(value, operand) ?? false,
    );
  });
}
