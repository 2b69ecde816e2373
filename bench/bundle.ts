import { join } from "node:path";
import { build } from "esbuild";

/**
 * Bundles the processes of the measurement into plain JavaScript, and gives their folder: a loader that compiles at
 * run time (tsx) wraps every function, which would be measured with the rest.
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
  return outdir;
}
