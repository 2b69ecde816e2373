import type { PropDefinition } from "./component.ts";

/** Prop types for services that Headwater does not provide (docs/component-api.md#props). */
const UNSUPPORTED = new Set<unknown>(["data_store", "dir", "sql"]);

/** Returns true for a prop that must fail when it is used. An optional prop without a value is undefined instead. */
export function isUnsupportedService(prop: PropDefinition, given: unknown): boolean {
  return UNSUPPORTED.has(prop.type) && !(prop.optional && given === undefined);
}

/** Returns an object of which every read or change throws a ConfigurationError that names the prop. */
export function unsupportedService(name: string, { type }: PropDefinition): unknown {
  const fail = (): never => {
    const message = `The prop "${name}" has the type ${String(type)}, a service that Headwater does not provide`;
    throw Object.assign(new Error(message), { name: "ConfigurationError" });
  };
  return new Proxy(Object.create(null), {
    // The language reads these itself if the value is awaited, logged or written as JSON; that must not fail.
    get: (_target, key) =>
      typeof key === "symbol" || key === "then" || key === "toJSON" ? undefined : fail(),
    has: fail,
    set: fail,
    deleteProperty: fail,
  });
}
