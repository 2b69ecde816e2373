/**
 * The build process: one beside each web process, and beside a command that saves components. It parses, installs, bundles and
 * compresses for all accounts, so that nothing of that holds up a request. It has none of the platform's settings and
 * secrets, and ends when the process that started it does.
 */

import { giveWayItself } from "../../fairness/niceness.ts";
import { bundleGraph } from "../bundle.ts";
import type { ModuleLoader, SourceModule } from "../load-modules.ts";
import { readModuleGraph } from "../module-graph.ts";
import { type BuildOrder, type BuildResult, type CallMessage, ProcessCalls } from "./calls.ts";
import { writeBuilt } from "./write-built.ts";

/** How often it shows that it still reads messages. */
const ALIVE_EVERY_MS = 1000;

giveWayItself();

const calls = new ProcessCalls(message => process.send?.(message), { build });
process.on("message", message => calls.receive(message as CallMessage));
process.on("disconnect", () => process.exit());
// A terminal sends them to all its processes; the one that started this one says when it ends.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});
setInterval(() => void calls.call("alive").catch(() => undefined), ALIVE_EVERY_MS);

/** Returns null if the caller knows the code by its hash. */
async function build(id: number, { folder, loader, options }: BuildOrder): Promise<BuildResult | null> {
  const modules = remoteLoader(calls, id, loader);
  const graph = await readModuleGraph(modules, options.account);
  if (!(await calls.call<boolean>("goesOn", id, graph.hash))) return null;
  const mayInstall = () => calls.call<void>("mayInstall", id);
  return writeBuilt(await bundleGraph(graph, modules, { ...options, mayInstall }), folder);
}

/** Returns the loader of a build in another process, which has the files and the way out. */
function remoteLoader(
  calls: ProcessCalls,
  build: number,
  { field, declaresRanges }: BuildOrder["loader"],
): ModuleLoader {
  return {
    field,
    entry: () => calls.call<SourceModule>("entry", build),
    resolve: (specifier, importerId) => calls.call<SourceModule>("resolve", build, specifier, importerId),
    ...(declaresRanges && {
      declaredRange: (name: string, importerId: string) =>
        calls.call<string>("declaredRange", build, name, importerId),
    }),
  };
}
