import { LRUCache } from "lru-cache";
import { notFound } from "../lib/errors.ts";
import { type Component, Components } from "../models/component.ts";
import type { Source } from "../models/source.ts";
import type { Stores } from "../platform.ts";
import { dynamicPropsOf } from "../sources/source.ts";

/**
 * Who responds to a request for a source: `custom`, the component, which must; `maybe`, the component, or Headwater if it
 * does not; `never` the component (docs/component-api.md#events-given-to-run).
 */
export type ResponseMode = "custom" | "maybe" | "never";

/** Components whose mode is remembered: a saved component never changes. */
const MAX_REMEMBERED = 10_000;
const modes = new LRUCache<string, ResponseMode>({ max: MAX_REMEMBERED });

/**
 * Returns who responds for a source. Of its component, it reads only the fields that say so: its code and its bundle can have megabytes.
 * Throws `not-found` if the component no longer exists.
 */
export async function loadResponseMode(
  platform: Stores,
  source: Pick<Source, "component_id" | "dynamic_props">,
): Promise<ResponseMode> {
  const mode = await modeOf(platform, source.component_id);
  const isCustom = dynamicPropsOf(platform, source)?.props.some(prop => prop.customResponse);
  return isCustom ? "custom" : mode;
}

async function modeOf({ mongo }: Stores, componentId: string): Promise<ResponseMode> {
  const known = modes.get(componentId);
  if (known) return known;
  const component = await Components(mongo)
    .findById(componentId, { uses_respond: 1, "description.props.customResponse": 1 })
    .lean<Pick<Component, "uses_respond" | "description">>();
  if (!component) throw notFound("component");
  const isCustom = component.description.props.some(prop => prop.customResponse);
  const mode = isCustom ? "custom" : component.uses_respond ? "maybe" : "never";
  modes.set(componentId, mode);
  return mode;
}
