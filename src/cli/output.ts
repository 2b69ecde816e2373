import { stripVTControlCharacters, styleText } from "node:util";
import stringWidth from "string-width";

/** Writes lines to the standard output. */
export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Writes lines for a person to the standard error, where they are in no program's way. */
export const note = (text: string): void => void process.stderr.write(`${text}\n`);

/** Writes a value as JSON for a program. */
export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2));

/** Writes a value as JSON for a program, or as the text that `textOf` makes of it for a person. */
export function show<T>(value: T, { json = false }: { json?: boolean }, textOf: (value: T) => string): void {
  if (json) printJson(value);
  else print(textOf(value));
}

/** Writes a value as one line of JSON: one of many that come as they happen. */
export const printJsonLine = (value: unknown): void => print(JSON.stringify(value));

/** Returns a time as it is shown: to the second, UTC. */
export const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Returns a text in a colour if the standard output is a terminal that has colours; NO_COLOR takes them away. */
export const coloured = (style: Parameters<typeof styleText>[0], text: string): string =>
  process.stdout.isTTY && process.stdout.hasColors() ? styleText(style, text) : text;

/** Returns where in code an error is, in brackets; nothing if that is not known. */
export const placeOf = ({ line, column }: { line: number | null; column: number | null }): string =>
  line === null ? "" : ` (line ${line}${column === null ? "" : `, column ${column}`})`;

/** Characters that move a cursor, or that a terminal shows in another order than they are in. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/** Returns a text as one line without control characters, for a terminal. */
export const plain = (text: string): string => stripVTControlCharacters(text).replace(UNSEEN, " ");

/** As `plain`, at most `length` characters long. */
export function shortened(text: string, length: number): string {
  // What is cut off anyway need not be made plain.
  const line = plain(text.slice(0, length * 4));
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

/** A person who has waited for so long wonders. */
const SLOW_MS = 2000;

/** Awaits work. A person at a terminal is told what for if that takes long: nothing looks like a hang. */
export async function sayIfSlow<T>(what: string, work: Promise<T>): Promise<T> {
  const timer = process.stderr.isTTY ? setTimeout(() => note(`Waiting for ${what} …`), SLOW_MS) : undefined;
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

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

/** Returns a row of its own as a line, for a table that goes on without an end. */
export const rowOf = (row: readonly unknown[]): string => row.map(textOf).join(GAP);

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
