import { invalidField } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type Page, type PageRequest, WHOLE_LIST } from "../store/page.ts";
import type { PageOptions, ResponseSpec } from "./response.ts";

/** Page sizes (docs/rest-api.md#pagination). */
export const DEFAULT_LIMIT = 10;
export const MAX_LIMIT = LIMITS.pageRows.value;

/** Longer than any of our ids in base64url, but too short for a cursor to carry a document. */
export const MAX_CURSOR_CHARS = 256;

/** Converts row ids to cursors and back. `decode` returns null for a string that `encode` never returns. */
export interface CursorCodec {
  encode(rowId: string): string;
  decode(cursor: string): string | null;
}

/** Cursors that are the unpadded base64url of the row id (docs/design.md#lists). */
export const rowIdCursor: CursorCodec = {
  encode: rowId => Buffer.from(rowId, "utf8").toString("base64url"),
  decode(cursor) {
    const rowId = Buffer.from(cursor, "base64url").toString("utf8");
    // Node ignores characters that are not base64url and replaces invalid UTF-8, so compare with the encoded id.
    return rowId && Buffer.from(rowId, "utf8").toString("base64url") === cursor ? rowId : null;
  },
};

/** Returns a codec for ids that are cursors as they are, such as event ids. Ids must match `pattern`. */
export function plainCursor(pattern: RegExp): CursorCodec {
  return { encode: rowId => rowId, decode: cursor => (pattern.test(cursor) ? cursor : null) };
}

function decode(codec: CursorCodec, name: "after" | "before", cursor: string): string {
  const rowId = cursor.length > MAX_CURSOR_CHARS || cursor.includes("\0") ? null : codec.decode(cursor);
  if (rowId === null || rowId.includes("\0")) throw invalidField("query", name, "is not a valid cursor");
  return rowId;
}

/** True if routes with this response accept `limit`, `after` and `before`. */
export const isPaged = ({ kind }: ResponseSpec): boolean => kind === "page" || kind === "list";

interface PageParameters {
  limit?: number;
  after?: string;
  before?: string;
}

/**
 * Reads `limit`, `after` and `before`, and decodes the cursor. Without any of them, the page of a list response is the
 * whole list. Throws `invalid` for a malformed cursor, or if both cursors are given.
 */
export function readPage({ limit, after, before }: PageParameters, response: ResponseSpec): PageRequest {
  const isWhole = [limit, after, before].every(given => given === undefined);
  if (response.kind === "list" && isWhole) return WHOLE_LIST;
  const options: PageOptions = response.kind === "page" ? response : {};
  const { cursor: codec = rowIdCursor, defaultLimit = DEFAULT_LIMIT } = options;
  if (after !== undefined && before !== undefined) {
    throw invalidField("query", "before", "can't be combined with after");
  }
  return {
    limit: limit ?? defaultLimit,
    ...(after !== undefined && { after: decode(codec, "after", after) }),
    ...(before !== undefined && { before: decode(codec, "before", before) }),
  };
}

/** Returns the envelope of a page, with its cursors encoded. */
export function pageEnvelope(page: Page<unknown>, codec: CursorCodec = rowIdCursor) {
  const encode = (rowId: string | null) => (rowId === null ? null : codec.encode(rowId));
  return {
    page_info: {
      total_count: page.totalCount,
      count: page.rows.length,
      start_cursor: encode(page.startCursor),
      end_cursor: encode(page.endCursor),
    },
    data: page.rows,
  };
}
