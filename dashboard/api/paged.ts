import { useFilters } from "../lib/address";
import type { CallOptions, Cursor, Page } from "./client";
import { useResource } from "./resource";

const ROWS = 50;

/** Loads the page of a list that the address names, with the filters of these names. `filters` change the address. */
export function usePaged<Row>(
  load: (cursor: Cursor, call: CallOptions, query: Record<string, string>) => PromiseLike<Page<Row>>,
  names: string[] = [],
) {
  const filters = useFilters(names);
  const { query } = filters;
  const { after, before } = query;
  const resource = useResource(
    call => load({ limit: ROWS, after, before }, call, query),
    [after, before, ...names.map(name => query[name])],
  );
  return { filters, resource };
}
