import { useFilters } from "../lib/address";
import type { CallOptions, Cursor, Page } from "./client";
import { useResource } from "./resource";

const ROWS = 50;

/** Reads a page of a list as it is narrowed and sorted now. */
export type ReadPage<Row> = (cursor: Cursor, call: CallOptions) => PromiseLike<Page<Row>>;

/**
 * Loads the page of a list that the address names, with the filters of these names and its order. `filters` change the address, and
 * `read` reads any other page.
 */
export function usePaged<Row>(
  load: (cursor: Cursor, call: CallOptions, query: Record<string, string>) => PromiseLike<Page<Row>>,
  names: string[] = [],
) {
  const filters = useFilters(names);
  const { query } = filters;
  const { after, before, sort } = query;
  const read: ReadPage<Row> = (cursor, call) => load(cursor, call, query);
  const resource = useResource(
    call => read({ limit: ROWS, after, before }, call),
    [after, before, sort, ...names.map(name => query[name])],
  );
  return { filters, resource, read };
}
