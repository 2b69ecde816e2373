import { newId } from "../../src/lib/ids.ts";
import { type Source, Sources } from "../../src/models/source.ts";
import type { Stores } from "../../src/platform.ts";

/** Stores a source as it is right after its creation. */
export async function storeSource(
  platform: Pick<Stores, "mongo" | "secrets">,
  overrides: Partial<Source> = {},
): Promise<Source> {
  const _id = newId("dc");
  const source: Source = {
    _id,
    owner_id: "u_1",
    user_id: "u_1",
    component_id: "sc_1",
    component_url: null,
    name: "row",
    name_slug: _id,
    configured_props: platform.secrets.seal("{}"),
    endpoint: null,
    timer: null,
    active: true,
    state: "ready",
    change_id: null,
    created_at: 0,
    updated_at: 0,
    ...overrides,
  };
  await Sources(platform.mongo).insertOne(source);
  return source;
}
