import { HTTP_TYPE, TIMER_TYPE } from "../../props/kinds.ts";
import { slugOf } from "../../sources/slug.ts";
import type { ApiClient } from "../api.ts";
import type { SavedComponent } from "./save.ts";

interface Source {
  id: string;
  name: string;
  name_slug: string;
  configured_props: Record<string, unknown>;
}

interface SourcePage {
  page_info: { end_cursor: string | null };
  data: Source[];
}

/** The deployed source as it is printed; URL and timer only if the component has them. */
export interface Deployed {
  id: string;
  name: string;
  component_id: string;
  deployed: "created" | "updated";
  endpoint_url?: string;
  timer?: object;
}

const PAGE_SIZE = 100;

/** Finds the caller's own source with a slug. `GET /sources/{slug}` could return one of an organization. */
async function findOwnSource(api: ApiClient, slug: string): Promise<Source | undefined> {
  let after = "";
  for (;;) {
    const path = `/users/me/sources?limit=${PAGE_SIZE}${after && `&after=${encodeURIComponent(after)}`}`;
    const { data, page_info } = await api.request<SourcePage>("GET", path);
    const found = data.find(source => source.name_slug === slug);
    if (found || !page_info.end_cursor) return found;
    after = page_info.end_cursor;
  }
}

/**
 * Creates a source with this component and these props, or updates the caller's source of that name (by default the
 * component's name); an update keeps the values of props that are left out. Throws AppError with the API's message.
 */
export async function deploySource(
  api: ApiClient,
  component: SavedComponent,
  props: Record<string, unknown>,
  name: string = slugOf(component.name),
): Promise<Deployed> {
  const existing = await findOwnSource(api, slugOf(name));
  const body = { component_id: component.id, configured_props: props };
  const { data: source } = existing
    ? await api.request<{ data: Source }>("PUT", `/sources/${existing.id}`, body)
    : await api.request<{ data: Source }>("POST", "/sources", { ...body, name });
  return {
    id: source.id,
    name: source.name,
    component_id: component.id,
    deployed: existing ? "updated" : "created",
    ...interfacesOf(component, source.configured_props),
  };
}

/** Returns the values of the component's HTTP and timer props as the API shows them (docs/rest-api.md#source). */
function interfacesOf({ configurable_props }: SavedComponent, values: Record<string, unknown>) {
  const valueOfType = (type: string) =>
    values[configurable_props.find(prop => prop.type === type)?.name ?? ""];
  const http = valueOfType(HTTP_TYPE) as { endpoint_url: string } | undefined;
  const timer = valueOfType(TIMER_TYPE) as object | undefined;
  return { ...(http && { endpoint_url: http.endpoint_url }), ...(timer && { timer }) };
}
