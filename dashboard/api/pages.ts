import type { Cursor, Page } from "./client";

/** What was read of a list so far. */
export interface RowsRead<Row> {
  rows: Row[];
  /** Of the list, as far as its pages say so. */
  total: number;
  /** False while there may be more. */
  isWhole: boolean;
}

const ROWS = 100;
/** A page of a filter without an index may be empty while others follow. */
const MAX_READS = 1000;

interface ReadOptions<Row> {
  most: number;
  /** Gets what was read so far, and the last page of it. */
  onPage?: (read: RowsRead<Row>, page: Row[]) => void;
}

/** Reads the rows of a list, page by page, up to `most` of them. */
export async function readRows<Row>(
  load: (cursor: Cursor) => PromiseLike<Page<Row>>,
  { most, onPage }: ReadOptions<Row>,
): Promise<RowsRead<Row>> {
  const read: RowsRead<Row> = { rows: [], total: 0, isWhole: false };
  let cursor: Cursor = { limit: ROWS };
  for (let reads = 0; reads < MAX_READS && read.rows.length < most; reads += 1) {
    const { data, page_info } = await load(cursor);
    read.rows.push(...data);
    read.total = page_info.total_count;
    // The first page was counted with its rows: nothing needs to be asked for behind one that has all.
    read.isWhole = page_info.end_cursor === null || (reads === 0 && data.length >= page_info.total_count);
    onPage?.({ ...read }, data);
    if (read.isWhole || page_info.end_cursor === null) break;
    cursor = { limit: ROWS, after: page_info.end_cursor };
  }
  return read;
}
