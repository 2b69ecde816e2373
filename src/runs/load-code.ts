import { LRUCache } from "lru-cache";
import { AppError, notFound } from "../lib/errors.ts";
import { Bundles, type Component, Components } from "../models/component.ts";
import type { Platform } from "../platform.ts";
import type { Bundle } from "../sandbox/bundle.ts";

/** A component ready to run. */
export interface Code {
  component: Component;
  bundle: Bundle;
}

/** Bundles never change under their hash, so they may be kept; this much of them. */
const CACHE_BYTES = 64 * 1024 * 1024;

const bundles = new LRUCache<string, string>({
  maxSize: CACHE_BYTES,
  sizeCalculation: code => code.length + 1,
});
const components = new LRUCache<string, Component>({ max: 1000 });

/** The component of a source and its bundle. Throws `not-found` when it is gone. */
export async function loadCode(platform: Pick<Platform, "mongo">, componentId: string): Promise<Code> {
  const component =
    components.get(componentId) ?? (await Components(platform.mongo).findById(componentId).lean());
  if (!component) throw notFound("component");
  components.set(componentId, component);
  const hash = component.bundle_hash;
  const code = bundles.get(hash) ?? (await Bundles(platform.mongo).findById(hash).lean())?.code;
  if (code === undefined) throw new AppError("not-found", "component has no bundle");
  bundles.set(hash, code);
  return { component, bundle: { code, hash } };
}
