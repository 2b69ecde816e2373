import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** The versions of a source's code, found by its id alone. */
export const codeHistories: Migration = {
  number: 20,
  name: "versions of sources' code",
  kind: "expand",
  run: context => createIndexes(context, { code_histories: [] }),
};
