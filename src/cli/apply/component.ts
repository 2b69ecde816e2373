import { dirname, resolve } from "node:path";
import { type Headwater, NotFoundError, type Schemas } from "../../../clients/typescript/src/index.ts";
import { fromUrl } from "../../components/fetch-modules.ts";
import { fromFile } from "../../components/load-modules.ts";
import { readModuleGraph } from "../../components/module-graph.ts";
import type { Egress } from "../../egress/agent.ts";
import type { SavedComponent } from "../deploy/deploy.ts";
import type { FieldChange } from "./change.ts";
import type { DifferingSecrets } from "./differing-secrets.ts";
import type { Ids } from "./ids.ts";
import type { DeclaredComponent } from "./schema.ts";

/** The component that a source or an action is to have. */
export type WantedComponent =
  | { saved: Schemas["Component"]; naming: Naming }
  /** `code` is null if it has several files: what it declares is known only once it is saved. */
  | { hash: string; location: string; code: string | null };

/** The field of a request that names a component. A key stays one: the server says whether it means several. */
type Naming = { component_id: string } | { key: string };

/** What the planning of sources and of actions needs. */
export interface ComponentTools {
  client: Headwater;
  /** The file, for messages. */
  path: string;
  /** Returns the component that `field` of the file is to have. */
  wantedOf: (field: string, declared: DeclaredComponent) => Promise<WantedComponent>;
  /** Saves a component, by its file or address, and returns it. */
  save: (location: string) => Promise<SavedComponent>;
  differing: DifferingSecrets;
  /** Of what is there when the plan is made. */
  ids: Ids;
}

/**
 * Returns the component that a source or an action is to have: a saved one, or the hash of its files, which a saved one has
 * too. Nothing is saved yet. Throws AppError `invalid` for what can't be read, and the client's `not-found` for an id or key.
 */
export async function wantedComponent(
  { file, url, component }: DeclaredComponent,
  { client, egress, path }: { client: Headwater; egress: Egress; path: string },
): Promise<WantedComponent> {
  if (component !== undefined) {
    const saved = await client.components.get(component);
    return { saved, naming: component === saved.id ? { component_id: saved.id } : { key: component } };
  }
  const location = url ?? resolve(dirname(path), file ?? "");
  const loader = url === undefined ? fromFile(location) : fromUrl(url, egress);
  const { hash, entry, modules } = await readModuleGraph(loader);
  return { hash, location, code: modules.size === 1 ? entry.source.text : null };
}

/** Returns the component, which is saved now unless it was, and what names it in a request. */
export async function savedComponent(
  component: WantedComponent,
  { save }: Pick<ComponentTools, "save">,
): Promise<{ saved: SavedComponent; naming: Naming }> {
  if ("saved" in component) return component;
  const saved = await save(component.location);
  return { saved, naming: { component_id: saved.id } };
}

/** Whether the component with this id is the wanted one; `known` is null if the server does not show it. */
export const isSameComponent = (
  component: WantedComponent,
  id: string,
  known: Schemas["Component"] | null,
): boolean => ("saved" in component ? component.saved.id === id : component.hash === known?.code_hash);

/** Returns the field of a plan that shows a component as the file has it. */
export const componentField = ({ file, url, component }: DeclaredComponent): FieldChange => ({
  field: "component",
  to: file ?? url ?? component,
});

/** Returns the fields of a plan that show props as the file has them. */
export const propFields = ({ props = {} }: DeclaredComponent): FieldChange[] =>
  Object.entries(props).map(([prop, to]) => ({ field: `props.${prop}`, to }));

/** Returns a component that is in use. Null for one that another account has, or that is gone. */
export async function findComponent(client: Headwater, id: string): Promise<Schemas["Component"] | null> {
  try {
    return await client.components.get(id);
  } catch (error) {
    if (error instanceof NotFoundError) return null;
    throw error;
  }
}
