import type { ProcessCalls } from "../../lib/process-calls.ts";
import type { ModuleLoader, SourceModule } from "../load-modules.ts";
import type { BuildOrder } from "./order.ts";

/** Returns the loader of a build in another process, which has the files and the way out. */
export function remoteLoader(
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
