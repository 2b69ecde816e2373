import { invalidField } from "../../lib/errors.ts";

/** The id of a destination, and a position in what it keeps. */
const CURSOR = /^(\w+)\.(0|[1-9]\d{0,14})$/;

/** Returns the cursor of a position; it names its listener, so that no other one takes it for its own. */
export const cursorOf = (listenerId: string, position: number): string =>
  Buffer.from(`${listenerId}.${position}`).toString("base64url");

/**
 * Returns the position that a cursor names. Throws `invalid` for anything else than a cursor that this listener has returned: one of
 * another listener, and one behind all that it has kept, as after a restored backup.
 */
export function positionIn(cursor: string, { id, last }: { id: string; last: number }): number {
  const [, listenerId, digits] = CURSOR.exec(Buffer.from(cursor, "base64url").toString("utf8")) ?? [];
  const position = Number(digits);
  if (listenerId === id && position <= last && cursorOf(id, position) === cursor) return position;
  throw invalidField("query", "after", "is not a cursor of this listener");
}
