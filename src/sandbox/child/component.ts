/** A component as its code exports it. Its shape is not checked yet, so no property has a known type. */
export interface Component extends Record<string, unknown> {
  props?: Record<string, unknown>;
  methods?: Record<string, unknown>;
  hooks?: Record<string, unknown>;
  run?: unknown;
}

export interface PropDefinition extends Record<string, unknown> {
  type?: unknown;
}

/** The component can't be used; `path` names its invalid part. */
export class InvalidComponentError extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

/**
 * Returns the component that a module exports: its default export, `module.exports`, or either of them wrapped once
 * more by a bundler. Throws InvalidComponentError.
 */
export function componentOf(module: Record<string, unknown>): Component {
  let found: unknown = "default" in module ? module.default : module;
  for (let depth = 0; depth < 2 && isWrapper(found); depth++) found = (found as { default: unknown }).default;
  if (typeof found !== "object" || found === null || Array.isArray(found)) {
    throw new InvalidComponentError("code", "the default export must be a component object");
  }
  if (Object.keys(found).length === 0) {
    throw new InvalidComponentError("code", "has no default export, which must be the component object");
  }
  return found as Component;
}

function isWrapper(value: unknown): boolean {
  return typeof value === "object" && value !== null && "default" in value && !("name" in value);
}

/**
 * Returns the props in the order of the code, with shorthands expanded and `propDefinition`s resolved. A prop that is
 * undefined or null is left out: this is how code removes a prop that it spreads from another object. Throws
 * InvalidComponentError.
 */
export function propsOf(component: Component): [string, PropDefinition][] {
  return Object.entries(objectOf(component.props))
    .filter(([, given]) => given !== undefined && given !== null)
    .map(([name, given]) => [name, resolveProp(name, given, 0)]);
}

export function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/**
 * CommonJS code that requires an ESM file, such as its app's file, receives a namespace instead of the default export.
 */
export function unwrapNamespace(value: unknown): unknown {
  const { __esModule, default: exported } = objectOf(value);
  return __esModule === true && typeof exported === "object" && exported !== null ? exported : value;
}

function resolveProp(name: string, given: unknown, depth: number): PropDefinition {
  const path = `props.${name}`;
  if (typeof given === "string") return { type: given };
  if (typeof given !== "object" || given === null) {
    throw new InvalidComponentError(path, "must be the name of a type, or an object with a type");
  }
  const { propDefinition, ...local } = unwrapNamespace(given) as PropDefinition;
  if (propDefinition === undefined) {
    if (typeof local.type !== "string") throw new InvalidComponentError(path, "has no type");
    return local;
  }
  if (!Array.isArray(propDefinition) || depth > 5) {
    throw new InvalidComponentError(path, "propDefinition must be [app, name]");
  }
  const [app, inherited] = propDefinition as [unknown, unknown];
  const found = objectOf(objectOf(unwrapNamespace(app)).propDefinitions)[String(inherited)];
  if (found === undefined) {
    throw new InvalidComponentError(path, `the app has no propDefinition "${String(inherited)}"`);
  }
  return { ...resolveProp(name, found, depth + 1), ...local };
}

/** Adds members that code may read and replace, but does not get by spreading, copying or serializing the object. */
export function withHidden<Target extends object>(
  target: Target,
  members: Record<string, unknown>,
): Target & Record<string, unknown> {
  for (const [name, value] of Object.entries(members)) {
    Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
  }
  return target as Target & Record<string, unknown>;
}
