import stringWidth from "string-width";
import { plain } from "./plain.ts";

/** Columns stand apart by so much. */
const GAP = "  ";

/**
 * Returns rows as lines with aligned columns below their titles, in upper case. What is in a cell is made plain: a name or
 * a log line from elsewhere must not move the cursor of a terminal.
 */
export function table(titles: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const cells = [titles.map(title => title.toUpperCase()), ...rows.map(row => row.map(textOf))];
  const widths = titles.map((_, at) => Math.max(...cells.map(row => stringWidth(row[at] ?? ""))));
  return cells.map(row => lineOf(row, widths)).join("\n");
}

/** Returns names and values as lines: `id  dc_…`. */
export function fields(values: Readonly<Record<string, unknown>>): string {
  const rows = Object.entries(values).filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...rows.map(([name]) => stringWidth(name)));
  return rows.map(([name, value]) => lineOf([name, textOf(value)], [width])).join("\n");
}

function lineOf(row: readonly string[], widths: readonly number[]): string {
  const padded = row.map((cell, at) => cell + " ".repeat(Math.max(0, (widths[at] ?? 0) - stringWidth(cell))));
  return padded.join(GAP).trimEnd();
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === "") return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return plain(typeof value === "object" ? JSON.stringify(value) : String(value));
}
