import { LRUCache } from "lru-cache";
import { storedBundle } from "../components/stored-bundle.ts";
import { type ConnectDeps, connectProps } from "../connections/connect-props.ts";
import { notFound } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type Component, Components } from "../models/component.ts";
import type { Source } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { propValuesForRun } from "../props/configure.ts";
import type { Bundle } from "../sandbox/bundle.ts";
import type { PropValues } from "../sandbox/protocol.ts";
import { endpointUrl } from "../sources/endpoint.ts";

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

/**
 * Decrypts a source's props and returns the values that the sandbox puts on `this`, with the credentials of its connections.
 * Throws as `connectProps` does.
 */
export async function boundProps(
  platform: ConnectDeps & Pick<Platform, "config">,
  source: Pick<Source, "owner_id" | "configured_props" | "endpoint">,
  component: Pick<Component, "description">,
  signal: AbortSignal,
): Promise<PropValues> {
  const { props } = component.description;
  const stored = JSON.parse(platform.secrets.open(source.configured_props));
  const values = await connectProps(platform, source.owner_id, { props, values: stored }, signal);
  return propValuesForRun(props, values, { endpointUrl: endpointUrl(platform, source.endpoint) });
}

/**
 * True if a source's runs may use a process in turn with those of other sources that have the same owner and the same code:
 * it has a timer, and no endpoint to which strangers send (docs/decisions/0023-timers-share-processes.md).
 */
export const mayShareProcess = ({ timer, endpoint }: Pick<Source, "timer" | "endpoint">): boolean =>
  timer !== null && endpoint === null;

/** Calls with the same key may share a sandbox process: one source with one bundle. */
export const processKey = (source: Pick<Source, "_id">, bundle: Bundle): string =>
  `${source._id}:${bundle.hash}`;
