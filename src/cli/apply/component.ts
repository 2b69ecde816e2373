import { dirname, resolve } from "node:path";
import type { Headwater } from "../../../clients/typescript/src/index.ts";
import { fromUrl } from "../../components/fetch-modules.ts";
import { fromFile } from "../../components/load-modules.ts";
import { readModuleGraph } from "../../components/module-graph.ts";
import type { Egress } from "../../egress/agent.ts";
import type { SavedComponent } from "../deploy/save.ts";
import type { DeclaredSource } from "./schema.ts";

/** The component that a source is to have. */
export type WantedComponent = { saved: SavedComponent } | { hash: string; location: string };

/** Saves a component, by its file or address, and returns it. */
export type SaveComponent = (location: string) => Promise<SavedComponent>;

interface Tools {
  client: Headwater;
  egress: Egress;
  /** The file that declares the source: others are named relative to it. */
  path: string;
}

/**
 * Returns the component that a source is to have: a saved one, or the hash of its files, which a saved one has too. Nothing
 * is saved yet. Throws AppError `invalid` for what can't be read, and the client's `not-found` for an id or key.
 */
export async function wantedComponent(
  { file, url, component }: DeclaredSource,
  { client, egress, path }: Tools,
): Promise<WantedComponent> {
  if (component !== undefined) return { saved: await client.components.get(component) };
  const location = url ?? resolve(dirname(path), file ?? "");
  const loader = url === undefined ? fromFile(location) : fromUrl(url, egress);
  return { hash: (await readModuleGraph(loader)).hash, location };
}
