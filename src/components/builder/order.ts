import type { BundleOptions } from "../bundle.ts";
import type { CodeTraits } from "../code-traits.ts";
import type { ModuleLoader } from "../load-modules.ts";

/** What the build process is asked to build. Its loader's files are read by the process that asks. */
export interface BuildOrder {
  /** Where the results are written: `component.mjs`, and the same with gzip, `component.mjs.gz`. */
  folder: string;
  /** The loader's field, and whether the code has a place of its own. */
  loader: { field: ModuleLoader["field"]; declaresRanges: boolean };
  options: Omit<BundleOptions, "mayInstall">;
}

/** A part of a bundle that other bundles may have, too. */
export interface PackedPart {
  /** SHA-256 (hex) of its text. */
  hash: string;
  /** Its length in the file with gzip. */
  bytes: number;
}

/** What was built, besides the files. */
export interface BuildResult {
  /** As `ComponentBundle`. */
  hash: string;
  modules: string[];
  packages: Record<string, string>;
  /** SHA-256 (hex) of the bundle, and its length. */
  bundleHash: string;
  bundleBytes: number;
  /** In order. */
  parts: PackedPart[];
  traits: CodeTraits;
}

export const BUNDLE_FILE = "component.mjs";
export const PACKED_FILE = "component.mjs.gz";
