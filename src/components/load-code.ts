import { LRUCache } from "lru-cache";
import { notFound } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type Component, Components } from "../models/component.ts";
import type { Platform } from "../platform.ts";
import type { Bundle } from "../sandbox/bundle.ts";
import { storedBundle } from "./stored-bundle.ts";

/** What a run needs of a component: not the code as it was given. */
export type RunnableComponent = Omit<Component, "code">;

/** A component ready to run. */
export interface Code {
  component: RunnableComponent;
  bundle: Bundle;
}

const components = new LRUCache<string, RunnableComponent>({
  maxSize: LIMITS.componentCacheBytes.value,
  sizeCalculation: component => JSON.stringify(component).length,
});

/**
 * Returns a component and its bundle, which is read when a sandbox needs it. Throws `not-found` if the component no longer
 * exists.
 */
export async function loadCode(platform: Pick<Platform, "mongo">, componentId: string): Promise<Code> {
  const component = components.get(componentId) ?? (await readComponent(platform, componentId));
  return { component, bundle: storedBundle(platform, component.bundle_hash) };
}

async function readComponent({ mongo }: Pick<Platform, "mongo">, id: string): Promise<RunnableComponent> {
  const component = await Components(mongo).findById(id, { code: 0 }).lean<RunnableComponent>();
  if (!component) throw notFound("component");
  components.set(id, component);
  return component;
}
