import type { ComponentChildren } from "preact";
import type { Page, Schemas } from "../api/client";
import type { Resource } from "../api/resource";
import type { useFilters } from "../lib/address";
import { count } from "../lib/format";
import { Button } from "./basics";
import { Loaded, NothingMatches } from "./states";
import { type Column, Table } from "./table";

export interface ListProps<Row> {
  resource: Resource<Page<Row>>;
  filters: ReturnType<typeof useFilters>;
  /** What to show if there is nothing at all. */
  empty: ComponentChildren;
  columns: Column<Row>[];
}

/** A page of a list in each of its states, with its pager; the cursors are in the address. */
export const List = <Row extends { id: string }>({ resource, filters, empty, columns }: ListProps<Row>) => (
  <Loaded resource={resource} lines={6}>
    {page => {
      const isPaged = Boolean(filters.query.after ?? filters.query.before);
      const { count: read, total_count: total, end_cursor: end } = page.page_info;
      // A filter that no index serves may leave nothing of a page, and something of a later one; one that a screen applies
      // itself leaves nothing of a list that was read whole.
      const isLast = end === null || (!isPaged && read > 0 && read >= total);
      if (page.data.length === 0 && !isPaged && isLast) {
        return filters.isFiltered ? <NothingMatches onClear={filters.clear} /> : empty;
      }
      return (
        <div aria-busy={resource.isLoading}>
          {page.data.length > 0 ? (
            <Table columns={columns} rows={page.data} />
          ) : (
            <p class="card-body muted">Nothing on this page{isLast ? "." : "; older ones may match."}</p>
          )}
          <Pager info={page.page_info} filters={filters} />
        </div>
      );
    }}
  </Loaded>
);

function Pager({ info, filters }: { info: Schemas["PageInfo"]; filters: ListProps<unknown>["filters"] }) {
  const { after, before } = filters.query;
  const isWhole = !after && !before && info.count >= info.total_count;
  return (
    <div class="pager">
      <span>
        {isWhole ? `${count(info.total_count)} in all` : `${info.count} of ${count(info.total_count)}`}
      </span>
      {!isWhole && (
        <span class="row">
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
        </span>
      )}
    </div>
  );
}
