import type { Cursor, List, Page } from "./client";

/** Lists are read up to here: 5,000 rows. */
const MAX_PAGES = 50;

/** Reads the pages of a list one after the other, up to a bound; `onPage` gets each as it comes. */
export async function readPages<Row>(
  list: List<Row>,
  onPage: (rows: Row[]) => void,
  pages = MAX_PAGES,
): Promise<void> {
  let read = 0;
  let count = 0;
  for await (const { data, page_info } of list.pages()) {
    onPage(data);
    read += 1;
    count += data.length;
    if (count >= page_info.total_count || read === pages) break;
  }
}

/** What was read of a list so far. */
export interface RowsRead<Row> {
  rows: Row[];
  /** Of the list, as far as its pages say so. */
  total: number;
  /** False while there may be more. */
  isWhole: boolean;
}

/** A page of a filter without an index may be empty while others follow. */
const MAX_READS = 1000;

/** Reads the rows of a list, page by page, up to `most` of them. */
export async function readRows<Row>(
  load: (cursor: Cursor) => PromiseLike<Page<Row>>,
  { most, onProgress }: { most: number; onProgress?: (read: RowsRead<Row>) => void },
): Promise<RowsRead<Row>> {
  const read: RowsRead<Row> = { rows: [], total: 0, isWhole: false };
  let cursor: Cursor = { limit: 100 };
  for (let reads = 0; reads < MAX_READS && read.rows.length < most; reads += 1) {
    const { data, page_info } = await load(cursor);
    read.rows.push(...data);
    read.total = page_info.total_count;
    read.isWhole = page_info.end_cursor === null;
    onProgress?.({ ...read });
    if (page_info.end_cursor === null) break;
    cursor = { limit: 100, after: page_info.end_cursor };
  }
  return read;
}
