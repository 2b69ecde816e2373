import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** The indexes of components that operators add, which are few: the collection has no index but that of the ids. */
export const galleryIndexes: Migration = {
  number: 27,
  name: "gallery indexes",
  kind: "expand",
  run: context => createIndexes(context, { gallery_indexes: [] }),
};
