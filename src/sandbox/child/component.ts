/** A component as its code exports it; everything in it is the author's, so nothing of its shape is sure. */
export interface Component extends Record<string, unknown> {
  props?: Record<string, unknown>;
  methods?: Record<string, unknown>;
  hooks?: Record<string, unknown>;
  run?: unknown;
}

export interface PropDefinition extends Record<string, unknown> {
  type?: unknown;
}

/** A component that can't be used; `path` names the place in it. */
export class ComponentFault extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

/** ESM default export, `module.exports`, or either of them wrapped once more by a bundler. */
export function componentOf(module: Record<string, unknown>): Component {
  let found: unknown = "default" in module ? module.default : module;
  for (let depth = 0; depth < 2 && isWrapper(found); depth++) found = (found as { default: unknown }).default;
  if (typeof found !== "object" || found === null || Array.isArray(found)) {
    throw new ComponentFault("code", "the default export must be the component, an object");
  }
  return found as Component;
}

function isWrapper(value: unknown): boolean {
  return typeof value === "object" && value !== null && "default" in value && !("name" in value);
}

/**
 * The props with shorthands written out and `propDefinition`s resolved, in the order of the code. One that is undefined
 * or null is none: so code takes away a prop that it spreads from another object.
 */
export function propsOf(component: Component): [string, PropDefinition][] {
  return Object.entries(objectOf(component.props))
    .filter(([, given]) => given !== undefined && given !== null)
    .map(([name, given]) => [name, resolveProp(name, given, 0)]);
}

export function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** CommonJS code that requires an ESM file, such as its app's, has the file's namespace in its hands. */
function asRequired(value: unknown): unknown {
  const { __esModule, default: exported } = objectOf(value);
  return __esModule === true && typeof exported === "object" && exported !== null ? exported : value;
}

function resolveProp(name: string, given: unknown, depth: number): PropDefinition {
  const path = `props.${name}`;
  if (typeof given === "string") return { type: given };
  if (typeof given !== "object" || given === null) {
    throw new ComponentFault(path, "must be a type or an object with one");
  }
  const { propDefinition, ...local } = asRequired(given) as PropDefinition;
  if (propDefinition === undefined) {
    if (typeof local.type !== "string") throw new ComponentFault(path, "has no type");
    return local;
  }
  if (!Array.isArray(propDefinition) || depth > 5) {
    throw new ComponentFault(path, "propDefinition must be [app, name]");
  }
  const [app, inherited] = propDefinition as [unknown, unknown];
  const found = objectOf(objectOf(asRequired(app)).propDefinitions)[String(inherited)];
  if (found === undefined) {
    throw new ComponentFault(path, `its app has no propDefinition "${String(inherited)}"`);
  }
  return { ...resolveProp(name, found, depth + 1), ...local };
}
