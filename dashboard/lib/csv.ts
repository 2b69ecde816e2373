type Row = Record<string, unknown>;

/** Objects of a row whose fields are columns, too; what else is an object is no cell of a table. */
const OPENED = ["last_attempt", "error"];
/** What was sent, and what came back: nothing for a table that is passed around. */
const LEFT_OUT = ["event_preview", "last_attempt_response"];
/** A spreadsheet takes a text that begins so for a formula. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

const isObject = (value: unknown): value is Row => typeof value === "object" && value !== null;

/** The cells of a row by their columns. */
function cellsOf(row: object): Map<string, unknown> {
  const cells = Object.entries(row).flatMap(([name, value]) => {
    if (!isObject(value)) return [[name, value] as const];
    if (!OPENED.includes(name)) return [];
    return Object.entries(value).map(([inner, one]) => [`${name}_${inner}`, one] as const);
  });
  return new Map(cells.filter(([name, value]) => !isObject(value) && !LEFT_OUT.includes(name)));
}

function written(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Rows of the API as CSV (RFC 4180), with a line of column names. Payloads and nested values are left out, and what a spreadsheet would
 * compute has an apostrophe before it.
 */
export function csvOf(rows: object[]): string {
  const all = rows.map(cellsOf);
  const columns = [...new Set(all.flatMap(cells => [...cells.keys()]))];
  const lines = all.map(cells => columns.map(name => written(cells.get(name))).join(","));
  return [columns.join(","), ...lines, ""].join("\r\n");
}
