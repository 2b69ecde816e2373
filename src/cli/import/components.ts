import { join, posix } from "node:path";
import { fromFile } from "../../components/load-modules.ts";
import { isOwnFile, readModuleGraph } from "../../components/module-graph.ts";
import { Names } from "./names.ts";
import type { Account, ShownComponent } from "./shown.ts";
import type { Staging } from "./staging.ts";

/** Where a component's code is, or why it is nowhere. */
export type Placed = { file: string } | { problem: string };

/** Writes the code of an account's components, and returns where it is, by their ids. */
export async function placeComponents(
  components: Account["components"],
  staging: Staging,
): Promise<Map<string, Placed>> {
  const names = new Names();
  const placed = new Map<string, Placed>();
  for (const [id, component] of components) {
    placed.set(
      id,
      component ? await place(component, names, staging) : { problem: `the server does not show ${id}` },
    );
  }
  return placed;
}

async function place(component: ShownComponent, names: Names, staging: Staging): Promise<Placed> {
  const { id, key, name: label, code, files, entry } = component;
  const name = names.choose([key, label], "component");
  if (entry) return await placed(`components/${name}`, entry, files ?? {}, staging);
  if (!code) return { problem: `the server does not show the code of ${id}` };
  const single = (file: string) => placed("components", file, { [file]: code }, staging);
  const script = await single(`${name}.mjs`);
  if ("file" in script) return script;
  // Nothing says whether code is TypeScript.
  const typed = await single(`${name}.ts`);
  return "file" in typed ? typed : script;
}

/** So that no path leads out of its folder, and each is one on every system. */
const PATH = /^[A-Za-z0-9_@][A-Za-z0-9_@.-]{0,100}(\/[A-Za-z0-9_@][A-Za-z0-9_@.-]{0,100}){0,8}$/;

/** Writes files, unless they are not a component by themselves. */
async function placed(
  folder: string,
  entry: string,
  files: Record<string, string>,
  staging: Staging,
): Promise<Placed> {
  const paths = Object.keys(files);
  const odd = paths.find(path => !PATH.test(path));
  if (odd !== undefined) return { problem: `its file ${JSON.stringify(odd)} can't have that name here` };
  for (const path of paths) await staging.write(`${folder}/${path}`, files[path] ?? "");
  const problem = await problemOf(join(staging.folder, folder), entry, new Set(paths));
  if (problem === null) return { file: `./${folder}/${entry}` };
  for (const path of paths) await staging.remove(`${folder}/${path}`);
  return { problem };
}

/**
 * Says why a component can't be read. It may import its own files only: what else code of another server names, on this machine, would
 * be sent along by `apply`.
 */
async function problemOf(folder: string, entry: string, own: ReadonlySet<string>): Promise<string | null> {
  try {
    const { modules } = await readModuleGraph(fromFile(join(folder, entry)));
    const paths = [...modules.values()]
      .filter(isOwnFile)
      .map(({ id }) => posix.join(posix.dirname(entry), id));
    const foreign = paths.find(path => !own.has(path));
    return foreign === undefined ? null : `it imports ${foreign}, which the server does not show`;
  } catch (error) {
    return (error as Error).message.replaceAll(`${folder}/`, "").replaceAll("file://", "");
  }
}
