import { failpoint } from "../../lib/failpoint.ts";
import type { SealedFields } from "../../models/sealed-fields.ts";
import type { Platform } from "../../platform.ts";
import type { Secrets } from "../../store/secrets.ts";
import { resealed, withoutBeginnings } from "./sealed-with.ts";
import { newTally, noteUnreadable, type Tally } from "./tally.ts";

type Deps = Pick<Platform, "mongo" | "secrets">;
type Row = Record<string, unknown> & { _id: unknown };

const PAGE = 200;

/**
 * Encrypts the sealed fields of a collection with the first key, a page of rows at a time. A field that is changed at the same
 * moment stays as the change has it. What is done stays done: it goes on there the next time. Throws as the driver does.
 */
export async function resealRows(
  { mongo, secrets }: Deps,
  sealed: SealedFields,
  progress: (tally: Tally) => void,
): Promise<Tally> {
  const tally = newTally(sealed.name);
  const rows = sealed.rowsIn(mongo);
  const needed = withoutBeginnings(sealed, [secrets.beginnings[0]]);
  const projection = Object.fromEntries(
    [...sealed.fields, ...sealed.lists.map(({ list }) => list)].map(field => [field, 1]),
  );
  let after: unknown;
  for (;;) {
    const filter = { ...needed, ...(after !== undefined && { _id: { $gt: after } }) };
    const page = (await rows
      .find(filter as never, { projection })
      .sort({ _id: 1 })
      .limit(PAGE)
      .toArray()) as Row[];
    if (page.length === 0) return tally;
    after = page.at(-1)?._id;
    const updates = page.flatMap(row => updateOf(secrets, sealed, row, tally));
    if (updates.length > 0) {
      const { matchedCount } = await rows.bulkWrite(updates as never, { ordered: false });
      tally.resealed += matchedCount;
      tally.busy += updates.length - matchedCount;
    }
    failpoint("page-resealed");
    progress(tally);
  }
}

/** Returns the update of a row: of what can be read, if it is still as it was read. */
function updateOf(secrets: Secrets, { fields, lists }: SealedFields, row: Row, tally: Tally): object[] {
  const texts = [
    ...fields.map(field => [field, row[field]] as const),
    ...lists.flatMap(({ list, field }) =>
      ((row[list] as Record<string, unknown>[] | undefined) ?? []).map(
        (item, i) => [`${list}.${i}.${field}`, item[field]] as const,
      ),
    ),
  ];
  const before: Record<string, string> = {};
  const $set: Record<string, string> = {};
  let isUnreadable = false;
  for (const [path, text] of texts) {
    if (typeof text !== "string") continue;
    const again = resealed(secrets, text);
    if (again === null) isUnreadable = true;
    else if (again !== text) {
      before[path] = text;
      $set[path] = again;
    }
  }
  if (isUnreadable) noteUnreadable(tally, String(row._id));
  if (Object.keys($set).length === 0) return [];
  return [{ updateOne: { filter: { _id: row._id, ...before }, update: { $set } } }];
}
