import { createRequire } from "node:module";
import { join } from "node:path";
import { UserError } from "./user-error.mjs";

/**
 * Bundles what a browser gets: modules and styles whose names have the hash of their content, and chunks of what several of them need.
 * `options` are esbuild's others; errors name `what` it is. Returns esbuild's metafile. Throws UserError for code that can't be parsed.
 */
export async function bundleForBrowsers(root, what, options) {
  const { build } = createRequire(join(root, "package.json"))("esbuild");
  const { metafile } = await build({
    ...options,
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "none",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    metafile: true,
    logLevel: "warning",
  }).catch(error => {
    throw new UserError(`the build of ${what} failed: ${error.message}`);
  });
  return metafile;
}
