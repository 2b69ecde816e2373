import stringWidth from "string-width";
import { coloured } from "./coloured.ts";
import { plain } from "./plain.ts";

/** Columns stand apart by so much. */
const GAP = "  ";

/**
 * Returns rows as lines with aligned columns below their titles, in upper case. What is in a cell is made plain: a name or
 * a log line from elsewhere must not move the cursor of a terminal.
 */
export function table(
  titles: readonly string[],
  rows: readonly (readonly unknown[])[],
  columns = process.stdout.isTTY ? process.stdout.columns : undefined,
): string {
  const cells = [titles.map(title => title.toUpperCase()), ...rows.map(row => row.map(textOf))];
  const whole = titles.map((_, at) => Math.max(...cells.map(row => stringWidth(row[at] ?? ""))));
  const widths = columns === undefined ? whole : fitting(whole, columns - GAP.length * (titles.length - 1));
  const lines = cells.map(row =>
    lineOf(
      row.map((cell, at) => cut(cell, widths[at] ?? 0)),
      widths,
    ),
  );
  return [coloured("bold", lines[0] ?? ""), ...lines.slice(1)].join("\n");
}

/** No column becomes narrower. */
const LEAST = 8;

/** Makes the widest columns narrower until all fit into a terminal. */
function fitting(widths: readonly number[], room: number): number[] {
  const fitted = [...widths];
  for (let over = fitted.reduce((sum, width) => sum + width, -room); over > 0; over--) {
    const widest = Math.max(...fitted);
    if (widest <= LEAST) break;
    fitted[fitted.indexOf(widest)] = widest - 1;
  }
  return fitted;
}

/** Returns a text of at most this width. */
function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = "";
  for (const char of text) {
    if (stringWidth(`${kept}${char}…`) > width) break;
    kept += char;
  }
  return `${kept}…`;
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
