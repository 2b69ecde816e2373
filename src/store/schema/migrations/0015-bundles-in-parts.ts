import type { Migration } from "../migration.ts";
import { bundleParts } from "./0014-bundle-parts.ts";

/**
 * Says that bundles are stored in parts from now on, which releases before can't read. Those that are stored stay as they are.
 */
export const bundlesInParts: Migration = {
  number: 15,
  name: "bundles in parts",
  kind: "contract",
  worksFrom: bundleParts.number,
  run: async () => undefined,
};
