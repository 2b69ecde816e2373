import { resolve } from "node:path";
import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { fromFile } from "../../components/load-modules.ts";
import { readModuleGraph } from "../../components/module-graph.ts";
import type { GivenFiles } from "../../components/read-files.ts";
import { isUrl } from "../dev/load.ts";

/** The fields of a request that have a component's code. */
export type CodeBody = { component_url: string } | { component_code: string } | GivenFiles;

/** A component saved in the caller's account. */
export type SavedComponent = Pick<Schemas["Component"], "id" | "name" | "configurable_props">;

/**
 * Returns the code of the component at a URL or in a file, as the API takes it: a file with those that it imports by
 * relative path. Throws AppError `invalid` for what can't be read.
 */
export async function codeAt(location: string): Promise<CodeBody> {
  if (isUrl(location)) return { component_url: location };
  const loader = fromFile(resolve(location));
  const { entry } = await readModuleGraph(loader);
  return loader.files?.() ?? { component_code: entry.source.text };
}

/** Saves the component at a URL or in a file. Throws AppError and the client's errors. */
export const saveComponentAt = async (location: string, client: Headwater): Promise<SavedComponent> =>
  client.components.create(await codeAt(location));
