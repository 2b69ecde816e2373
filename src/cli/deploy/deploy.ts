import { resolve } from "node:path";
import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { fromFile } from "../../components/load-modules.ts";
import { readModuleGraph } from "../../components/module-graph.ts";
import type { GivenFiles } from "../../components/read-files.ts";
import { AppError } from "../../lib/errors.ts";
import { slugOf } from "../../lib/slug.ts";
import { APPHOOK_TYPE, HTTP_TYPE, TIMER_TYPE } from "../../props/kinds.ts";
import { isUrl } from "../input.ts";

type Source = Schemas["Source"];

/** The deployed source as it is printed; URL and timer only if the component has them. */
export interface Deployed {
  id: string;
  name: string;
  component_id: string;
  deployed: "created" | "updated";
  endpoint_url?: string;
  timer?: object;
}

/** Finds the account's own source with a slug. `GET /sources/{slug}` could return one of another account of the caller. */
async function findOwnSource(client: Headwater, slug: string): Promise<Source | undefined> {
  for await (const source of client.sources.list()) if (source.name_slug === slug) return source;
  return undefined;
}

/** What else a person may say of what is deployed. */
interface Labels {
  name?: string;
  /** Kept with the version of a source's code. */
  comment?: string;
}

/**
 * Creates a source with this component and these props, or updates the account's source of that name (by default the
 * component's name); an update keeps the values of props that are left out. Throws the client's errors.
 */
export async function deploySource(
  client: Headwater,
  component: SavedComponent,
  code: CodeBody | GalleryBody,
  props: Record<string, unknown>,
  { name = slugOf(component.name), comment }: Labels,
): Promise<Deployed> {
  const existing = await findOwnSource(client, slugOf(name));
  const body = { configured_props: props, ...(comment !== undefined && { comment }) };
  // With the code, and not by its id: the source's own code is edited, and its secrets stay. So they do with the gallery's next version.
  const source = existing
    ? await client.sources.update(existing.id, { ...code, ...body })
    : await client.sources.create({ component_id: component.id, name, ...body });
  return {
    id: source.id,
    name: source.name,
    component_id: source.component_id,
    deployed: existing ? "updated" : "created",
    ...interfacesOf(component, source.configured_props),
  };
}

/** Returns the values of the component's interfaces as the API shows them (docs/rest-api.md#source). */
function interfacesOf({ configurable_props }: SavedComponent, values: Record<string, unknown>) {
  const valueOfType = (type: string) =>
    values[configurable_props.find(prop => prop.type === type)?.name ?? ""];
  const receives = (valueOfType(HTTP_TYPE) ?? valueOfType(APPHOOK_TYPE)) as
    | { endpoint_url: string }
    | undefined;
  const timer = valueOfType(TIMER_TYPE) as object | undefined;
  return { ...(receives && { endpoint_url: receives.endpoint_url }), ...(timer && { timer }) };
}

/** The fields of a request that have a component's code. */
export type CodeBody = { component_url: string } | { component_code: string } | GivenFiles;

/** The field of a request that names a component of the gallery. */
type GalleryBody = { component_id: string };

/** A component saved in the caller's account, or one of the gallery. */
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

/** The deployed action as it is printed. */
export interface DeployedAction {
  id: string;
  name: string | null;
  component_id: string;
  deployed: "created" | "updated";
}

/** Finds the account's own action with a name. Throws AppError `conflict` if there are several. */
async function findOwnAction(client: Headwater, name: string): Promise<Schemas["Destination"] | undefined> {
  let found: Schemas["Destination"] | undefined;
  for await (const one of client.destinations.list()) {
    if (one.kind !== "action" || one.name !== name) continue;
    if (found)
      throw new AppError(
        "conflict",
        `--name: two actions are called ${name}, ${found.id} and ${one.id}: rename one`,
      );
    found = one;
  }
  return found;
}

/**
 * Creates an action with this component and these props, or updates the account's action of that name (by default the
 * component's); an update keeps the values of props that are left out. Throws the client's errors, and as `findOwnAction`.
 */
export async function deployAction(
  client: Headwater,
  component: SavedComponent,
  code: CodeBody | GalleryBody,
  props: Record<string, unknown>,
  { name = component.name }: Labels,
): Promise<DeployedAction> {
  const existing = await findOwnAction(client, name);
  // With the code, and not by its id: the action's own code is edited, and its secrets stay.
  const { id } = existing
    ? await client.destinations.update(existing.id, { action: { ...code, configured_props: props } })
    : await client.destinations.create({
        name,
        action: { component_id: component.id, configured_props: props },
      });
  return { id, name, component_id: component.id, deployed: existing ? "updated" : "created" };
}
