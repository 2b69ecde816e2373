import { cp } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

/**
 * Bundles the processes of the measurement into plain JavaScript, and returns their folder. A loader that compiles at
 * run time (tsx) wraps every function, and the measurement would include that.
 */
export async function bundleProcesses(root: string): Promise<string> {
  const outdir = join(root, ".cache/bench");
  await build({
    entryPoints: ["sender", "receiver", "raw-accept", "raw-worker"].map(name =>
      join(root, "bench/processes", `${name}.ts`),
    ),
    outdir,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    outExtension: { ".js": ".mjs" },
    logLevel: "warning",
  });
  // A script is read from beside the code that calls it.
  await cp(join(root, "src/store/lua"), join(outdir, "lua"), { recursive: true });
  return outdir;
}
