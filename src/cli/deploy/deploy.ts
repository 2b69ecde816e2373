import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { APPHOOK_TYPE, HTTP_TYPE, TIMER_TYPE } from "../../props/kinds.ts";
import { slugOf } from "../../sources/slug.ts";
import type { CodeBody, SavedComponent } from "./code-at.ts";

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

/**
 * Creates a source with this component and these props, or updates the account's source of that name (by default the
 * component's name); an update keeps the values of props that are left out. Throws the client's errors.
 */
export async function deploySource(
  client: Headwater,
  component: SavedComponent,
  code: CodeBody,
  props: Record<string, unknown>,
  name: string = slugOf(component.name),
): Promise<Deployed> {
  const existing = await findOwnSource(client, slugOf(name));
  // With the code, and not by its id: the source's own code is edited, and its secrets stay.
  const source = existing
    ? await client.sources.update(existing.id, { ...code, configured_props: props })
    : await client.sources.create({ component_id: component.id, configured_props: props, name });
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
