import type { Migration } from "../migration.ts";
import { bundleChunks } from "./0010-bundle-chunks.ts";

/**
 * Says that bundles are stored packed from now on, which releases before can't read. Those that are stored stay as they are.
 */
export const packedBundles: Migration = {
  number: 11,
  name: "packed bundles",
  kind: "contract",
  worksFrom: bundleChunks.number,
  run: async () => undefined,
};
