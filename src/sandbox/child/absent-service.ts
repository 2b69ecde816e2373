import type { PropDefinition } from "./component.ts";

/** Prop types that stand for a service of the platform which Headwater does not have (runtime.md, "Props"). */
const ABSENT = new Set<unknown>(["data_store", "dir", "sql", "$.interface.apphook"]);

/** True for a prop that must fail when it is used. An optional one without a value is simply not there. */
export function isAbsentService(prop: PropDefinition, given: unknown): boolean {
  return ABSENT.has(prop.type) && !(prop.optional && given === undefined);
}

/** What stands in for the service: reading or changing anything of it throws a ConfigurationError that names the prop. */
export function absentService(name: string, { type }: PropDefinition): unknown {
  const refuse = (): never => {
    const message = `The prop "${name}" needs a service that Headwater does not have (${String(type)})`;
    throw Object.assign(new Error(message), { name: "ConfigurationError" });
  };
  return new Proxy(Object.create(null), {
    // What the language itself asks for, when the value is awaited, logged or written as JSON, is no use of it.
    get: (_target, key) =>
      typeof key === "symbol" || key === "then" || key === "toJSON" ? undefined : refuse(),
    has: refuse,
    set: refuse,
    deleteProperty: refuse,
  });
}
