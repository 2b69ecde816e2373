import type { List } from "./client";

/** Lists are read up to here: 5,000 rows. */
const MAX_PAGES = 50;

export interface WholeList<Row> {
  rows: Row[];
  total: number;
}

/** Reads the pages of a list one after the other, up to a bound; `onPage` gets each as it comes. */
export async function readPages<Row>(
  list: List<Row>,
  onPage: (rows: Row[]) => void = () => undefined,
  pages = MAX_PAGES,
): Promise<WholeList<Row>> {
  const rows: Row[] = [];
  let total = 0;
  let read = 0;
  for await (const { data, page_info } of list.pages()) {
    rows.push(...data);
    onPage(data);
    read += 1;
    total = Math.max(page_info.total_count, rows.length);
    if (rows.length === total || read === pages) break;
  }
  return { rows, total };
}
