import { slugOf } from "../../sources/slug.ts";
import type { ApiClient } from "../api.ts";
import type { Saved } from "./save.ts";

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

/** What came of it, as it is printed; the interfaces are there where the component has them. */
export interface Deployed {
  id: string;
  name: string;
  component_id: string;
  deployed: "created" | "updated";
  endpoint_url?: string;
  timer?: object;
}

const PAGE = 100;

/** The caller's own source of this name; an organization's has the same slug at most by chance. */
async function findOwn(api: ApiClient, slug: string): Promise<Source | undefined> {
  let after = "";
  for (;;) {
    const path = `/users/me/sources?limit=${PAGE}${after && `&after=${encodeURIComponent(after)}`}`;
    const { data, page_info } = await api.request<SourcePage>("GET", path);
    const found = data.find(source => source.name_slug === slug);
    if (found || !page_info.end_cursor) return found;
    after = page_info.end_cursor;
  }
}

/**
 * Makes a source of a saved component, or gives the source of that name (the component's by default) the component and
 * the props; props that are left out stay as they are then. Throws AppError with the API's words.
 */
export async function deploySource(
  api: ApiClient,
  component: Saved,
  props: Record<string, unknown>,
  name: string | undefined,
): Promise<Deployed> {
  const wanted = name ?? slugOf(component.name);
  const earlier = await findOwn(api, slugOf(wanted));
  const body = { component_id: component.id, configured_props: props };
  const { data: source } = earlier
    ? await api.request<{ data: Source }>("PUT", `/sources/${earlier.id}`, body)
    : await api.request<{ data: Source }>("POST", "/sources", { ...body, name: wanted });
  return {
    id: source.id,
    name: source.name,
    component_id: component.id,
    deployed: earlier ? "updated" : "created",
    ...interfacesOf(component, source.configured_props),
  };
}

/** The values of the component's timer and HTTP props, as the API shows them (rest-api.md, section 2). */
function interfacesOf({ configurable_props }: Saved, values: Record<string, unknown>) {
  const shown = (type: string) => values[configurable_props.find(prop => prop.type === type)?.name ?? ""];
  const http = shown("$.interface.http") as { endpoint_url: string } | undefined;
  const timer = shown("$.interface.timer") as object | undefined;
  return { ...(http && { endpoint_url: http.endpoint_url }), ...(timer && { timer }) };
}
