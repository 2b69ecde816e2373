import { note, print, printJson, table } from "../output.ts";
import type { Rows } from "./row-limit.ts";

/** The options of every list. */
export interface ListOptions {
  json?: boolean;
  /** Whether ids are shown of what has a name. */
  ids?: boolean;
  limit: number;
}

/** What a table shows of a row, by the titles of its columns. */
export type Columns<Row> = Readonly<Record<string, (row: Row, nameOf: (id: string) => string) => unknown>>;

/** Prints rows as a table for people or as JSON for programs. */
export function printRows<Row>(
  { rows, hasMore }: Rows<Row>,
  { json, ids = false, limit }: Partial<ListOptions>,
  columns: Columns<Row>,
  names: ReadonlyMap<string, string> = new Map(),
): void {
  const nameOf = (id: string) => names.get(id) ?? id;
  if (json) printJson(rows);
  else if (rows.length === 0) note("There are none.");
  else {
    const shown = ids ? columns : withoutIds(columns);
    print(
      table(
        Object.keys(shown),
        rows.map(row => Object.values(shown).map(cell => cell(row, nameOf))),
      ),
    );
  }
  if (hasMore) note(`There are more than ${limit}: --limit shows them.`);
}

/** Columns by which people know a thing: by its name, and by its id only if it has none. */
function withoutIds<Row>({ id, ...others }: Columns<Row>): Columns<Row> {
  const { name } = others;
  if (id === undefined) return others;
  return name === undefined
    ? { id, ...others }
    : { ...others, name: (row, nameOf) => name(row, nameOf) ?? id(row, nameOf) };
}
