import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** What does not fit into a bundle's own document; found by its id alone. */
export const bundleChunks: Migration = {
  number: 10,
  name: "bundle chunks",
  kind: "expand",
  run: context => createIndexes(context, { bundle_chunks: [] }),
};
