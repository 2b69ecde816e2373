import { LRUCache } from "lru-cache";
import { AppError, notFound } from "../lib/errors.ts";
import { Bundles, type Component, Components } from "../models/component.ts";
import type { Source } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { propValuesForRun } from "../props/configure.ts";
import type { Bundle } from "../sandbox/bundle.ts";
import type { PropValues } from "../sandbox/protocol.ts";
import { endpointUrl } from "../sources/endpoint.ts";

/** A component ready to run. */
export interface Code {
  component: Component;
  bundle: Bundle;
}

/** A bundle never changes under its hash, so this many bytes of bundles are kept in memory. */
const CACHE_BYTES = 64 * 1024 * 1024;

const bundles = new LRUCache<string, string>({
  maxSize: CACHE_BYTES,
  sizeCalculation: code => code.length + 1,
});
const components = new LRUCache<string, Component>({ max: 1000 });

/** Returns a component and its bundle. Throws `not-found` if the component no longer exists. */
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

/** Decrypts a source's props and returns the values that the sandbox puts on `this`. */
export function boundProps(
  platform: Pick<Platform, "secrets" | "config">,
  source: Pick<Source, "configured_props" | "endpoint">,
  component: Component,
): PropValues {
  const values = JSON.parse(platform.secrets.open(source.configured_props));
  return propValuesForRun(component.description.props, values, {
    endpointUrl: endpointUrl(platform, source.endpoint),
  });
}

/** Calls with the same key may share a sandbox process: one source with one bundle. */
export const processKey = (source: Pick<Source, "_id">, bundle: Bundle): string =>
  `${source._id}:${bundle.hash}`;
