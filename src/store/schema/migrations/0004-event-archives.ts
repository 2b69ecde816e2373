import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** What emitters that fell silent keep; found by their id alone. */
export const eventArchives: Migration = {
  number: 4,
  name: "event archives",
  kind: "expand",
  run: context => createIndexes(context, { event_archives: [] }),
};
