import { type Component, objectOf, type PropDefinition, propsOf } from "./component.ts";

const HOOKS = ["deploy", "activate", "deactivate"] as const;
const FLAGS = [
  "optional",
  "secret",
  "hidden",
  "customResponse",
  "withLabel",
  "reloadProps",
  "useQuery",
] as const;

const TEXTS = ["label", "description"];

/** Returns the component's description in the shape of `ComponentDescription`, which the host checks. */
export function describeComponent(component: Component): Record<string, unknown> {
  const hooks = objectOf(component.hooks);
  const notFunctions = [
    ...(isOther(component.run) ? ["run"] : []),
    ...HOOKS.filter(hook => isOther(hooks[hook])).map(hook => `hooks.${hook}`),
  ];
  return {
    name: component.name,
    ...textFields(component, ["key", "description", "type", "dedupe"]),
    ...dedupeFields(component.dedupe),
    version: typeof component.version === "number" ? String(component.version) : component.version,
    props: propsOf(component).map(([name, prop]) => describeProp(name, prop)),
    hooks: HOOKS.filter(hook => typeof hooks[hook] === "function"),
    hasRun: typeof component.run === "function",
    ...(notFunctions.length > 0 && { notFunctions }),
    ...(hasSample(component) && { hasSampleEmit: true }),
    ...(typeof component.additionalProps === "function" && { hasAdditionalProps: true }),
  };
}

/** Of a component that says more of its dedupe than the strategy. */
function dedupeFields(dedupe: unknown): Record<string, unknown> {
  const { strategy, remember } = objectOf(dedupe);
  return { ...(strategy !== undefined && { dedupe: strategy }), ...(remember !== undefined && { remember }) };
}

const isOther = (value: unknown): boolean =>
  value !== undefined && value !== null && typeof value !== "function";

const hasSample = ({ sampleEmit }: Component): boolean => sampleEmit !== undefined && sampleEmit !== null;

/** Returns a prop in the shape of `DescribedProp`, which the host checks. */
export function describeProp(name: string, prop: PropDefinition): Record<string, unknown> {
  const described: Record<string, unknown> = {
    name,
    type: prop.type,
    ...textFields(prop, prop.type === "alert" ? [...TEXTS, "alertType", "content"] : TEXTS),
  };
  for (const flag of FLAGS) if (prop[flag] !== undefined) described[flag] = Boolean(prop[flag]);
  for (const bound of ["min", "max"]) if (typeof prop[bound] === "number") described[bound] = prop[bound];
  if (Array.isArray(prop.options)) described.options = asJson(prop.options);
  if (typeof prop.options === "function") described.remoteOptions = true;
  if (prop.type === "app" && typeof prop.app === "string") described.app = prop.app;
  if (typeof prop.appProp === "string") described.appProp = prop.appProp;
  // Old code sets the interval directly on the prop (docs/component-api.md#props).
  const oldTimer = prop.intervalSeconds === undefined ? undefined : { intervalSeconds: prop.intervalSeconds };
  if (prop.type === "$.interface.http" && prop.verify !== undefined) described.verify = asJson(prop.verify);
  if (prop.type === "$.interface.apphook") Object.assign(described, describeEvents(prop));
  const initial = asJson(prop.default ?? oldTimer);
  if (initial !== undefined) described.default = initial;
  const fixed = asJson(prop.static);
  if (fixed !== undefined) described.static = fixed;
  return described;
}

function describeEvents({ eventNames }: PropDefinition): Record<string, unknown> {
  return {
    ...(Array.isArray(eventNames) && { eventNames: eventNames.map(String) }),
    ...(typeof eventNames === "function" && { remoteEventNames: true }),
  };
}

function textFields(from: Record<string, unknown>, names: string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap(name => (typeof from[name] === "string" ? [[name, from[name] as string]] : [])),
  );
}

/** Leaves out functions, which have no JSON form. */
function asJson(value: unknown): unknown {
  const json = JSON.stringify(value) as string | undefined;
  return json === undefined ? undefined : JSON.parse(json);
}
