import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Page, Schemas } from "../api/client";
import type { ReadPage } from "../api/paged";
import type { Resource } from "../api/resource";
import type { useFilters } from "../lib/address";
import { count } from "../lib/format";
import { Button } from "./basics";
import { later } from "./later";
import { Loaded, NothingMatches } from "./states";
import { type Column, type Selection, Table } from "./table";

const ExportDialog = later(async () => (await import("./export-dialog")).ExportDialog);

export interface ListProps<Row> {
  /** What is listed, such as `webhooks`. */
  things: string;
  resource: Resource<Page<Row>>;
  /** Reads any page of it, for an export. */
  read: ReadPage<Row>;
  filters: ReturnType<typeof useFilters>;
  /** What to show if there is nothing at all. */
  empty: ComponentChildren;
  columns: Column<Row>[];
  /** For rows that something is done to together; `bar` says what. */
  selection?: Selection;
  bar?: ComponentChildren;
}

/** A page of a list in each of its states, with its pager; the cursors are in the address. */
export const List = <Row extends { id: string }>({
  things,
  resource,
  read,
  filters,
  empty,
  columns,
  selection,
  bar,
}: ListProps<Row>) => (
  <Loaded resource={resource} lines={6}>
    {page => {
      const isPaged = Boolean(filters.query.after ?? filters.query.before);
      const { end_cursor: end } = page.page_info;
      // A filter that no index serves may leave nothing of a page, and something of a later one.
      const isLast = end === null;
      if (page.data.length === 0 && !isPaged && isLast) {
        return filters.isFiltered ? <NothingMatches onClear={filters.clear} /> : empty;
      }
      return (
        <div aria-busy={resource.isLoading}>
          {bar}
          {page.data.length > 0 ? (
            <Table columns={columns} rows={page.data} selection={selection} />
          ) : (
            <p class="card-body muted">Nothing on this page{isLast ? "." : "; older ones may match."}</p>
          )}
          <Pager info={page.page_info} filters={filters} things={things} read={read as ReadPage<object>} />
        </div>
      );
    }}
  </Loaded>
);

interface PagerProps extends Pick<ListProps<never>, "things" | "filters"> {
  info: Schemas["PageInfo"];
  read: ReadPage<object>;
}

function Pager({ info, filters, things, read }: PagerProps) {
  const [isExporting, setExporting] = useState(false);
  const { after, before } = filters.query;
  const isWhole = !after && !before && info.count >= info.total_count;
  return (
    <div class="pager">
      <span>
        {isWhole ? `${count(info.total_count)} in all` : `${info.count} of ${count(info.total_count)}`}
      </span>
      <span class="row">
        <Button isSmall kind="ghost" onClick={() => setExporting(true)}>
          Export …
        </Button>
        {!isWhole && (
          <>
            <Button
              isSmall
              isDisabled={(!after && !before) || info.start_cursor === null}
              onClick={() => filters.set({ before: info.start_cursor ?? undefined, after: undefined })}
            >
              Newer
            </Button>
            <Button
              isSmall
              isDisabled={info.end_cursor === null}
              onClick={() => filters.set({ after: info.end_cursor ?? undefined, before: undefined })}
            >
              Older
            </Button>
          </>
        )}
      </span>
      {isExporting && <ExportDialog things={things} read={read} onClose={() => setExporting(false)} />}
    </div>
  );
}
