import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** Parts that bundles with equal packages have in common; found by their ids alone. */
export const bundleParts: Migration = {
  number: 14,
  name: "bundle parts",
  kind: "expand",
  run: context => createIndexes(context, { bundle_parts: [] }),
};
