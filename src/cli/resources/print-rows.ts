import { note, print, printJson } from "../output/print.ts";
import { table } from "../output/table.ts";
import type { Rows } from "./row-limit.ts";

/** The options of every list. */
export interface ListOptions {
  json?: boolean;
  limit: number;
}

/** What a table shows of a row, by the titles of its columns. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => unknown>>;

/** Prints rows as a table for people or as JSON for programs. */
export function printRows<Row>(
  { rows, hasMore }: Rows<Row>,
  { json, limit }: Partial<ListOptions>,
  columns: Columns<Row>,
): void {
  if (json) printJson(rows);
  else if (rows.length === 0) note("There are none.");
  else
    print(
      table(
        Object.keys(columns),
        rows.map(row => Object.values(columns).map(cell => cell(row))),
      ),
    );
  if (hasMore) note(`There are more than ${limit}: --limit shows them.`);
}
