import { isDeepStrictEqual } from "node:util";
import { invalidField } from "../lib/errors.ts";
import { isObject } from "../lib/json.ts";
import { LIMITS } from "../limits/catalogue.ts";

/**
 * The filter of a subscription, as JSON (docs/filters.md). A key is a path into the event (`issue.labels.0.name`; `\.` is a
 * dot within a name) with a value that must be equal, or with an object of operators; `$and`, `$or` and `$not` combine filters. All keys must
 * match.
 */
export type Filter = { [key: string]: unknown };

/** Limits the cost of matching. */
export const MAX_FILTER_BYTES = LIMITS.filterBytes.value;
const MAX_DEPTH = LIMITS.filterDepth.value;

const isNumber = (value: unknown): value is number => typeof value === "number";
const isString = (value: unknown): value is string => typeof value === "string";
const isArray = (value: unknown): value is unknown[] => Array.isArray(value);
/** Orders numbers and strings. Returns NaN for any other pair, for which every comparison is false. */
function compare(value: unknown, bound: unknown): number {
  if (isNumber(value) && isNumber(bound)) return value - bound;
  if (isString(value) && isString(bound)) return value < bound ? -1 : value > bound ? 1 : 0;
  return Number.NaN;
}

interface Operator {
  /** Returns what is wrong with the operand, or null. */
  checkOperand: (operand: unknown) => string | null;
  /** `value` is undefined if the event has nothing at the path. */
  matches: (value: unknown, operand: unknown) => boolean;
}

const anyOperand = () => null;
const numberOrString = (operand: unknown) =>
  isNumber(operand) || isString(operand) ? null : "must be a number or a string";
const array = (operand: unknown) => (isArray(operand) ? null : "must be an array");
const boolean = (operand: unknown) => (typeof operand === "boolean" ? null : "must be true or false");
const string = (operand: unknown) => (isString(operand) ? null : "must be a string");

const OPERATORS: Record<string, Operator> = {
  $eq: { checkOperand: anyOperand, matches: (value, operand) => isDeepStrictEqual(value, operand) },
  $ne: { checkOperand: anyOperand, matches: (value, operand) => !isDeepStrictEqual(value, operand) },
  $gt: { checkOperand: numberOrString, matches: (value, operand) => compare(value, operand) > 0 },
  $gte: { checkOperand: numberOrString, matches: (value, operand) => compare(value, operand) >= 0 },
  $lt: { checkOperand: numberOrString, matches: (value, operand) => compare(value, operand) < 0 },
  $lte: { checkOperand: numberOrString, matches: (value, operand) => compare(value, operand) <= 0 },
  $in: { checkOperand: array, matches: (value, operand) => includes(operand, value) },
  $nin: { checkOperand: array, matches: (value, operand) => !includes(operand, value) },
  $exists: { checkOperand: boolean, matches: (value, operand) => (value !== undefined) === operand },
  $contains: {
    checkOperand: anyOperand,
    matches: (value, operand) =>
      isString(value) && isString(operand)
        ? value.includes(operand)
        : isArray(value) && includes(value, operand),
  },
  $startsWith: {
    checkOperand: string,
    matches: (value, operand) => isString(value) && isString(operand) && value.startsWith(operand),
  },
};

function includes(list: unknown, value: unknown): boolean {
  return isArray(list) && list.some(entry => isDeepStrictEqual(entry, value));
}

const isOperators = (condition: unknown): condition is Record<string, unknown> =>
  isObject(condition) && Object.keys(condition).some(key => key.startsWith("$"));

const invalid = (path: string, message: string) => invalidField("body", path, message);

/**
 * Checks a filter that a caller sent. Throws `invalid` with the path of the error; `matches` relies on what passes.
 * `path` and `depth` are those of a nested filter.
 */
export function checkFilter(filter: unknown, path = "filter", depth = 0): asserts filter is Filter {
  if (!isObject(filter)) throw invalid(path, "must be an object");
  if (depth === 0 && Buffer.byteLength(JSON.stringify(filter)) > MAX_FILTER_BYTES) {
    throw invalid(path, `must be at most ${MAX_FILTER_BYTES} bytes`);
  }
  if (depth > MAX_DEPTH) throw invalid(path, `must not be nested deeper than ${MAX_DEPTH} levels`);
  for (const [key, condition] of Object.entries(filter)) {
    const at = `${path}.${key}`;
    if (key === "$and" || key === "$or") {
      if (!isArray(condition) || condition.length === 0) {
        throw invalid(at, "must be a non-empty array of filters");
      }
      for (const [i, inner] of condition.entries()) checkFilter(inner, `${at}.${i}`, depth + 1);
    } else if (key === "$not") {
      checkFilter(condition, at, depth + 1);
    } else if (key === "" || key.startsWith("$")) {
      throw invalid(at, "must be a path, $and, $or or $not");
    } else if (isOperators(condition)) {
      checkOperators(condition, at);
    } else {
      rejectForgottenDollar(key, condition, at);
      rejectOperatorsWithin(condition, key, at);
    }
  }
}

const asOperators = (value: unknown): string[] | null => {
  const names = isObject(value) ? Object.keys(value) : [];
  const operators = names.map(name => (name.startsWith("$") ? name : `$${name}`));
  return names.length > 0 && operators.every(name => Object.hasOwn(OPERATORS, name)) ? operators : null;
};

const AS_VALUE = "write {$eq: …} for a value that must be equal to this";

/** Rejects `{"or": [{…}]}` and `{"not": {…}}`, which would hardly match any event. */
function rejectForgottenDollar(key: string, condition: unknown, path: string): void {
  const isFilters = isArray(condition) && condition.length > 0 && condition.every(isObject);
  if (key === "not" ? isObject(condition) : ["and", "or"].includes(key) && isFilters) {
    throw invalid(path, `did you mean $${key}? Otherwise ${AS_VALUE}`);
  }
}

/**
 * Rejects a value in which an object has only names of operators: without their `$`, as in `{"total": {"gte": 100}}`, or below
 * the path that they are meant for, as in `{"order": {"total": {"$gte": 100}}}`.
 */
function rejectOperatorsWithin(value: unknown, names: string, path: string): void {
  const operators = asOperators(value);
  if (operators)
    throw invalid(path, `did you mean ${operators.join(", ")} at the path ${names}? Otherwise ${AS_VALUE}`);
  if (!isObject(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    rejectOperatorsWithin(inner, `${names}.${escapeName(name)}`, `${path}.${name}`);
  }
}

function checkOperators(condition: Record<string, unknown>, path: string): void {
  for (const [name, operand] of Object.entries(condition)) {
    const operator = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
    if (!operator) {
      const hint = Object.hasOwn(OPERATORS, `$${name}`) ? `did you mean $${name}? It ` : "";
      throw invalid(`${path}.${name}`, `${hint}must be one of ${Object.keys(OPERATORS).join(", ")}`);
    }
    const message = operator.checkOperand(operand);
    if (message) throw invalid(`${path}.${name}`, message);
  }
}

/** Returns the names of a path. In a name, `\.` is a dot and `\\` a backslash; any other backslash is itself. */
function namesOf(path: string): string[] {
  const names: string[] = [];
  let name = "";
  for (const [part] of path.matchAll(/\\[.\\]|./gs)) {
    if (part === ".") {
      names.push(name);
      name = "";
    } else name += part.at(-1);
  }
  return [...names, name];
}

const escapeName = (name: string): string => name.replace(/[.\\]/g, "\\$&");

/** Returns the value at a path, or undefined. Reads own properties only, so never those of a prototype. */
const valueAt = (event: unknown, path: string): unknown => valueUnder(event, namesOf(path));

function valueUnder(event: unknown, names: readonly string[]): unknown {
  let value = event;
  for (const name of names) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Says whether an event matches. Never throws, whatever the event is. */
export type Matcher = (event: unknown) => boolean;

/** Returns the matcher of a checked filter. A filter is matched many times: what depends only on it is done once. */
export function compileFilter(filter: Filter): Matcher {
  const matchers = Object.entries(filter).map(([key, condition]) => compileEntry(key, condition));
  return event => matchers.every(matcher => matcher(event));
}

/** Returns true if the event matches a checked filter that is used once. */
export const matches = (filter: Filter, event: unknown): boolean => compileFilter(filter)(event);

function compileEntry(key: string, condition: unknown): Matcher {
  if (key === "$not") {
    const inner = compileFilter(condition as Filter);
    return event => !inner(event);
  }
  if (key === "$and" || key === "$or") {
    const inner = (condition as Filter[]).map(compileFilter);
    return key === "$and"
      ? event => inner.every(matcher => matcher(event))
      : event => inner.some(matcher => matcher(event));
  }
  const names = namesOf(key);
  if (!isOperators(condition)) return event => isDeepStrictEqual(valueUnder(event, names), condition);
  const operators = Object.entries(condition).map(([name, operand]) => {
    const operator = OPERATORS[name];
    return (value: unknown) => operator?.matches(value, operand) ?? false;
  });
  return event => {
    const value = valueUnder(event, names);
    return operators.every(matchesOperand => matchesOperand(value));
  };
}

/** Longer values are shortened: the explanation is a line for a person. */
const MAX_SHOWN = 80;

/**
 * Explains why an event does not match a checked filter: the first condition that fails, with what the event has there,
 * such as `issue.state must be "open", but is "closed"`. Returns null if it matches. Pure (docs/filters.md).
 */
export function explainMismatch(filter: Filter, event: unknown): string | null {
  for (const [key, condition] of Object.entries(filter)) {
    if (matches({ [key]: condition }, event)) continue;
    if (key === "$and") {
      const failed = (condition as Filter[]).find(inner => !matches(inner, event));
      return failed ? explainMismatch(failed, event) : null;
    }
    if (key === "$or") {
      const reasons = (condition as Filter[]).map(inner => explainMismatch(inner, event));
      return `none of $or matches: ${reasons.join("; ")}`;
    }
    if (key === "$not") return `matches what $not excludes: ${shown(condition)}`;
    return explainCondition(key, condition, event);
  }
  return null;
}

function explainCondition(path: string, condition: unknown, event: unknown): string {
  const value = valueAt(event, path);
  const actual = value === undefined ? "is absent" : `is ${shown(value)}`;
  const operators = typeof condition === "object" && condition !== null ? Object.entries(condition) : [];
  const failed = operators.find(
    ([name, operand]) => name.startsWith("$") && !matches({ [path]: { [name]: operand } }, event),
  );
  if (!failed) return `${path} must be ${shown(condition)}, but ${actual}`;
  const [name, operand] = failed;
  return `${path} must satisfy ${name} ${shown(operand)}, but ${actual}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
