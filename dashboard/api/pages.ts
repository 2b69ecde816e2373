import type { Schemas } from "./client";

interface ListPage<Row> {
  page_info: Schemas["PageInfo"];
  data: Row[];
}

/** Lists are read up to here: 5,000 rows. */
const MAX_PAGES = 50;
export const PAGE_ROWS = 100;

export interface WholeList<Row> {
  rows: Row[];
  total: number;
}

/** Reads the pages of a list one after the other, up to a bound; `onPage` gets each as it comes. */
export async function readPages<Row>(
  load: (query: { limit: number; after?: string }) => Promise<ListPage<Row>>,
  onPage: (rows: Row[]) => void = () => undefined,
  pages = MAX_PAGES,
): Promise<WholeList<Row>> {
  const rows: Row[] = [];
  let after: string | null = null;
  for (let page = 0; ; page += 1) {
    const { data, page_info } = await load({ limit: PAGE_ROWS, ...(after !== null && { after }) });
    rows.push(...data);
    onPage(data);
    after = page_info.end_cursor;
    const isLast = data.length === 0 || after === null || rows.length >= page_info.total_count;
    if (isLast || page + 1 === pages) return { rows, total: Math.max(page_info.total_count, rows.length) };
  }
}
