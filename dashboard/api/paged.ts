import { useFilters } from "../lib/address";
import type { CallOptions, Cursor, Page } from "./client";
import { useResource } from "./resource";

const ROWS = 50;

/** Loads the page of a list that the address names. `filters` change the address. */
export function usePaged<Row>(load: (cursor: Cursor, call: CallOptions) => PromiseLike<Page<Row>>) {
  const filters = useFilters([]);
  const { after, before } = filters.query;
  const resource = useResource(call => load({ limit: ROWS, after, before }, call), [after, before]);
  return { filters, resource };
}
