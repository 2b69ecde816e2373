import { coloured, plain } from "../output.ts";
import type { Change, FieldChange } from "./change.ts";

const MARKS: Record<Change["action"], string> = { create: "+", update: "~", delete: "-" };
const COLOURS = { create: "green", update: "yellow", delete: "red" } as const;
/** So much of a value is shown. */
const VALUE_CHARS = 200;

/** Returns a plan as lines for a person. Values of the environment are not in it. */
export function planLines(changes: readonly Change[]): string[] {
  const lines = changes.flatMap(({ action, kind, name, fields }) => [
    coloured(COLOURS[action], `${MARKS[action]} ${kind} ${plain(name)}`),
    ...fields.map(field => `    ${lineOf(field)}`),
  ]);
  return [...lines, summaryOf(changes)];
}

/** Returns what a program gets of a plan. */
export const planJson = (changes: readonly Change[]) =>
  changes.map(({ action, kind, name, fields }) => ({ action, kind, name, fields }));

function summaryOf(changes: readonly Change[]): string {
  if (changes.length === 0) return "Nothing to change.";
  const count = (action: Change["action"]) => changes.filter(one => one.action === action).length;
  return `${count("create")} to create, ${count("update")} to change, ${count("delete")} to delete.`;
}

function lineOf({ field, from, to }: FieldChange): string {
  const wanted = to === null ? "removed" : textOf(to);
  return from === undefined ? `${field}: ${wanted}` : `${field}: ${textOf(from)} → ${wanted}`;
}

function textOf(value: unknown): string {
  const text = plain(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  return text.length > VALUE_CHARS ? `${text.slice(0, VALUE_CHARS)}…` : text;
}
