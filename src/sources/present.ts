import { Components } from "../models/component.ts";
import type { Source } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { presentProps } from "../props/configure.ts";
import { endpointUrl } from "./endpoint.ts";

type Deps = Pick<Platform, "mongo" | "secrets" | "config">;

/** Returns sources as API responses show them, without secrets (docs/rest-api.md#source). */
export async function presentSources(platform: Deps, sources: Source[]) {
  const components = await Components(platform.mongo)
    .find({ _id: { $in: sources.map(source => source.component_id) } }, { description: 1 })
    .lean();
  const props = new Map(components.map(component => [component._id, component.description.props]));
  return sources.map(source => ({
    id: source._id,
    user_id: source.user_id,
    component_id: source.component_id,
    configured_props: presentProps(
      props.get(source.component_id) ?? [],
      JSON.parse(platform.secrets.open(source.configured_props)),
      { endpointUrl: endpointUrl(platform, source.endpoint) },
    ),
    active: source.active,
    created_at: source.created_at,
    updated_at: source.updated_at,
    name: source.name,
    name_slug: source.name_slug,
  }));
}

export async function presentSource(platform: Deps, source: Source) {
  const [presented] = await presentSources(platform, [source]);
  if (!presented) throw new Error("presentSources must return one source for one source");
  return presented;
}
