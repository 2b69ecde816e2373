import { createRequire } from "node:module";

/** An instance of esbuild, which has a process of its own from its first call until `stop()`. */
export type Esbuild = typeof import("esbuild");

const require = createRequire(import.meta.url);

/** Loads esbuild and returns a new instance: it starts one process for each evaluation of its module. */
export function newEsbuild(): Esbuild {
  const path = require.resolve("esbuild");
  delete require.cache[path];
  return require(path) as Esbuild;
}
