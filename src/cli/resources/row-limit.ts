import { InvalidArgumentError } from "commander";

/** No list that a person or a script reads in one go is longer. */
const MOST = 10_000;

/** Parses `--limit`: how many rows to print. */
export function parseLimit(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= MOST) return count;
  throw new InvalidArgumentError(`must be an integer from 1 to ${MOST}`);
}

/** The first rows of a list, and whether there are more. */
export interface Rows<Row> {
  rows: Row[];
  hasMore: boolean;
}

/** Reads at most `limit` rows, page by page. */
export async function firstRows<Row>(list: AsyncIterable<Row>, limit: number): Promise<Rows<Row>> {
  const rows: Row[] = [];
  for await (const row of list) {
    if (rows.length === limit) return { rows, hasMore: true };
    rows.push(row);
  }
  return { rows, hasMore: false };
}
