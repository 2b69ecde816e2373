import { basename, dirname, posix, resolve, sep } from "node:path";
import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { fromFile } from "../../components/load-modules.ts";
import { type ModuleGraph, readModuleGraph } from "../../components/module-graph.ts";
import { isUrl } from "../dev/load.ts";

/** The fields of a request that have a component's code. */
export type CodeBody =
  | { component_url: string }
  | { component_code: string }
  | { files: Record<string, string>; entry: string };

/** A component saved in the caller's account. */
export type SavedComponent = Pick<Schemas["Component"], "id" | "name" | "configurable_props">;

/**
 * Returns the code of the component at a URL or in a file, as the API takes it: a file with those that it imports by
 * relative path. Throws AppError `invalid` for what can't be read.
 */
export async function codeAt(location: string): Promise<CodeBody> {
  if (isUrl(location)) return { component_url: location };
  const path = resolve(location);
  const graph = await readModuleGraph(fromFile(path));
  const isAlone = graph.modules.size === 1 && graph.ranges.size === 0;
  return isAlone ? { component_code: graph.entry.source.text } : filesOf(graph, path);
}

/** Saves the component at a URL or in a file. Throws AppError and the client's errors. */
export const saveComponentAt = async (location: string, client: Headwater): Promise<SavedComponent> =>
  client.components.create(await codeAt(location));

/**
 * Returns the files of a component as the API takes them. Of each package.json it sends what the component's own imports
 * ask for and nothing else, in the folder of each importing file: the server finds the same versions as this machine.
 */
function filesOf({ modules, ranges }: ModuleGraph, path: string) {
  const ids = [...modules.keys()].map(withoutQuery);
  // Of the folders above the entry's, as many are named as its imports reach.
  const above = Math.max(...ids.map(id => id.split("/").filter(part => part === "..").length));
  const folder = above === 0 ? "" : dirname(path).split(sep).slice(-above).join("/");
  const at = (id: string) => posix.join(folder, id);
  const files: Record<string, string> = {};
  const manifests = new Map<string, Record<string, string>>();
  for (const [id, { source }] of modules) {
    const file = at(withoutQuery(id));
    files[file] = source.text;
    if (ranges.size === 0) continue;
    const manifest = posix.join(posix.dirname(file), "package.json");
    manifests.set(manifest, { ...manifests.get(manifest), ...Object.fromEntries(ranges.get(id) ?? []) });
  }
  // One that the code imports as a file is sent as it is.
  for (const [manifest, dependencies] of manifests) files[manifest] ??= JSON.stringify({ dependencies });
  return { files, entry: at(basename(path)) };
}

/** An import may have a query, which is a part of a module's id and not of the file's name. */
const withoutQuery = (id: string): string => id.replace(/\?.*$/s, "");
