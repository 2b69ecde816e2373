import { LRUCache } from "lru-cache";
import { AppError, notFound } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { Bundles, type Component, Components } from "../models/component.ts";
import type { Platform } from "../platform.ts";
import type { Bundle } from "../sandbox/bundle.ts";

/** What a run needs of a component: not the code as it was given. */
export type RunnableComponent = Omit<Component, "code">;

/** A component ready to run. */
export interface Code {
  component: RunnableComponent;
  bundle: Bundle;
}

/** A bundle never changes under its hash. */
const bundles = new LRUCache<string, string>({
  maxSize: LIMITS.bundleCacheBytes.value,
  sizeCalculation: code => code.length + 1,
});
const components = new LRUCache<string, RunnableComponent>({
  maxSize: LIMITS.componentCacheBytes.value,
  sizeCalculation: component => JSON.stringify(component).length,
});

/** Returns a component and its bundle. Throws `not-found` if the component no longer exists. */
export async function loadCode(platform: Pick<Platform, "mongo">, componentId: string): Promise<Code> {
  const component = components.get(componentId) ?? (await readComponent(platform, componentId));
  const hash = component.bundle_hash;
  return { component, bundle: { code: bundles.get(hash) ?? (await readBundle(platform, hash)), hash } };
}

async function readComponent({ mongo }: Pick<Platform, "mongo">, id: string): Promise<RunnableComponent> {
  const component = await Components(mongo).findById(id, { code: 0 }).lean<RunnableComponent>();
  if (!component) throw notFound("component");
  components.set(id, component);
  return component;
}

async function readBundle({ mongo }: Pick<Platform, "mongo">, hash: string): Promise<string> {
  const bundle = await Bundles(mongo).findById(hash).lean();
  if (!bundle) throw new AppError("not-found", "component has no bundle");
  bundles.set(hash, bundle.code);
  return bundle.code;
}
