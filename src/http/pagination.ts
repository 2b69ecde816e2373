import { invalidField } from "../lib/errors.ts";

/** rest-api.md section 4.1. */
export const DEFAULT_LIMIT = 10;
export const MAX_LIMIT = 100;

/** Longer than any id of ours in base64url, so that a cursor never carries a document. */
const MAX_CURSOR_CHARS = 256;

/** One page of rows, newest first; the cursors are the ids of the first and last row, not yet encoded. */
export interface PageResult<Row> {
  rows: Row[];
  /** All rows of the list, not of this page. */
  totalCount: number;
  startCursor: string | null;
  endCursor: string | null;
}

/** What a paginated request asks for; `after` and `before` are row ids, and never both there. */
export interface PageRequest {
  limit: number;
  after?: string;
  before?: string;
}

/** How a row's id is shown as a cursor. `decode` gives null for a text that `encode` never made. */
export interface CursorCodec {
  encode(rowId: string): string;
  decode(cursor: string): string | null;
}

/** Unpadded base64url of the row id (design.md, "Lists"). */
export const rowIdCursor: CursorCodec = {
  encode: rowId => Buffer.from(rowId, "utf8").toString("base64url"),
  decode(cursor) {
    const rowId = Buffer.from(cursor, "base64url").toString("utf8");
    // Node skips what is no base64url and mends broken UTF-8: only a text that encodes back is a cursor.
    return rowId && Buffer.from(rowId, "utf8").toString("base64url") === cursor ? rowId : null;
  },
};

/** Ids that are shown as they are, such as event ids; `pattern` tells them from other texts. */
export function plainCursor(pattern: RegExp): CursorCodec {
  return { encode: rowId => rowId, decode: cursor => (pattern.test(cursor) ? cursor : null) };
}

function decode(codec: CursorCodec, name: "after" | "before", cursor: string): string {
  const rowId = cursor.length > MAX_CURSOR_CHARS || cursor.includes("\0") ? null : codec.decode(cursor);
  if (rowId === null || rowId.includes("\0")) throw invalidField("query", name, "is no cursor of a page");
  return rowId;
}

/** Reads `limit`, `after` and `before`; throws a 400 naming the one that is wrong, or both when both are given. */
export function readPage(
  query: { limit?: number; after?: string; before?: string },
  options: { cursor?: CursorCodec; defaultLimit?: number },
): PageRequest {
  const { after, before } = query;
  const codec = options.cursor ?? rowIdCursor;
  if (after !== undefined && before !== undefined) {
    throw invalidField("query", "before", "can't be combined with after");
  }
  return {
    limit: query.limit ?? options.defaultLimit ?? DEFAULT_LIMIT,
    ...(after !== undefined && { after: decode(codec, "after", after) }),
    ...(before !== undefined && { before: decode(codec, "before", before) }),
  };
}

/** The paginated envelope of rows already made presentable. */
export function pageEnvelope(result: PageResult<unknown>, codec: CursorCodec = rowIdCursor) {
  const encode = (rowId: string | null) => (rowId === null ? null : codec.encode(rowId));
  return {
    page_info: {
      total_count: result.totalCount,
      count: result.rows.length,
      start_cursor: encode(result.startCursor),
      end_cursor: encode(result.endCursor),
    },
    data: result.rows,
  };
}
