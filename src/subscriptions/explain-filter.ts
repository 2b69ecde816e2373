import { type Filter, matches, valueAt } from "./filter.ts";

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
