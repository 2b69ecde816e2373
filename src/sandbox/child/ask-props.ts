import type { DescribedProp } from "../protocol.ts";
import {
  type Component,
  InvalidComponentError,
  objectOf,
  type PropDefinition,
  propsOf,
  unwrapNamespace,
} from "./component.ts";
import { describeProp } from "./describe.ts";

/** What `options` of a prop is asked: the page, what its last call returned as context, and what a person typed. */
interface OptionsRequest {
  prop: string;
  page: number;
  prevContext: unknown;
  query: string;
}

/** An `options` function, the `this` it expects, and what the definitions that led to it add to its argument. */
interface FoundOptions {
  options: (given: object) => unknown;
  self: object;
  added: object;
}

/** How far a `propDefinition` may lead to another one. */
const MAX_DEPTH = 5;

/**
 * Calls the `options` function of a prop, on the component if the prop itself has it, and on the app whose
 * `propDefinition` has it. Returns `{options, context}` in JSON's types: each option is a value or `{label, value}`.
 * Throws what the component's code throws, and an error if the prop has no such function.
 */
export async function askOptions(
  component: Component,
  self: Record<string, unknown>,
  request: unknown,
  added: readonly DescribedProp[] = [],
): Promise<{ options: unknown[]; context: unknown }> {
  const { prop, page, prevContext, query } = request as OptionsRequest;
  // A function has no JSON form, so that of an added prop is only found by making the prop again.
  const isAdded = added.some(({ name }) => name === prop);
  const { returned } = isAdded ? await callAdditionalProps(component, self, added) : { returned: {} };
  const definition = objectOf(returned)[prop] ?? objectOf(component.props)[prop];
  const found = await findOptions(component, self, definition);
  if (!found) throw new Error(`props.${prop} has no function that lists options`);
  const given = { ...found.added, page, prevContext: prevContext ?? {}, query };
  const listed = await found.options.call(found.self, given);
  if (Array.isArray(listed)) return { options: listed.map(plainOption), context: null };
  const { options, context } = objectOf(listed);
  return { options: Array.isArray(options) ? options.map(plainOption) : [], context: context ?? null };
}

async function findOptions(
  component: Component,
  self: Record<string, unknown>,
  prop: unknown,
): Promise<FoundOptions | null> {
  let definition = objectOf(unwrapNamespace(prop));
  let owner: object = self;
  let added = {};
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    const { options, propDefinition } = definition;
    if (typeof options === "function")
      return { options: options as FoundOptions["options"], self: owner, added };
    if (options !== undefined || !Array.isArray(propDefinition)) return null;
    const [given, name, context] = propDefinition as [unknown, unknown, unknown];
    const app = objectOf(unwrapNamespace(given));
    // The props so far, from which the code picks what the app needs: `[app, "sheet", c => ({ file: c.file })]`.
    if (typeof context === "function") added = { ...added, ...objectOf(await context.call(self, self)) };
    owner = boundApp(component, self, app) ?? owner;
    definition = objectOf(objectOf(app.propDefinitions)[String(name)]);
  }
  return null;
}

/** Returns the value of the prop whose definition is this app: the app with its methods and credentials. */
function boundApp(component: Component, self: Record<string, unknown>, app: object): object | null {
  for (const [name, prop] of Object.entries(objectOf(component.props))) {
    const bound = self[name];
    if (unwrapNamespace(prop) === app && typeof bound === "object" && bound !== null) return bound;
  }
  return null;
}

/** Other keys of an option are for its author only. */
function plainOption(option: unknown): unknown {
  if (typeof option !== "object" || option === null || Array.isArray(option)) return option;
  const { label, value } = option as Record<string, unknown>;
  return { label: String(label ?? value), value };
}

/**
 * Calls `additionalProps` with the definitions so far, and returns what it returned: definitions by name, not resolved yet.
 * Those so far are copies, which the code may change in place; `sofar` has them afterwards. Throws what the code throws.
 */
async function callAdditionalProps(
  component: Component,
  self: Record<string, unknown>,
  added: readonly DescribedProp[],
): Promise<{ returned: Record<string, unknown>; sofar: Record<string, PropDefinition> }> {
  const own = propsOf(component).map(([name, prop]) => [name, { ...prop }] as const);
  const sofar: Record<string, PropDefinition> = Object.fromEntries([
    ...own,
    ...added.map(prop => [prop.name, { ...prop }] as const),
  ]);
  const { additionalProps } = component;
  const returned = typeof additionalProps === "function" ? await additionalProps.call(self, sofar) : {};
  return { returned: objectOf(returned), sofar };
}

/**
 * Returns the props of a component as `additionalProps` makes them, described as those of the code: the code's own, perhaps
 * changed, and the further ones. Throws what the code throws, and an error that names
 * a prop that is not one.
 */
export async function describeAdditionalProps(
  component: Component,
  self: Record<string, unknown>,
  added: readonly DescribedProp[],
): Promise<Record<string, unknown>[]> {
  const { returned, sofar } = await callAdditionalProps(component, self, added);
  const own = propsOf(component).map(([name]) => [name, sofar[name]] as const);
  const props = { ...Object.fromEntries(own), ...returned };
  try {
    return propsOf({ props }).map(([name, prop]) => describeProp(name, prop));
  } catch (error) {
    if (!(error instanceof InvalidComponentError)) throw error;
    throw new Error(`additionalProps returned ${error.path}, which is not usable: ${error.message}`);
  }
}

/**
 * Calls the function `eventNames` of an apphook prop and returns its names. An empty list, or none, means all events.
 * Throws what the code throws, and an error if the prop has no such function.
 */
export async function askEventNames(
  component: Component,
  self: Record<string, unknown>,
  prop: string,
  added: readonly DescribedProp[] = [],
): Promise<string[]> {
  // A function has no JSON form, so that of an added prop is only found by making the prop again.
  const isAdded = added.some(({ name }) => name === prop);
  const props = isAdded ? (await callAdditionalProps(component, self, added)).returned : component.props;
  const definition = new Map(propsOf({ props: props ?? {} })).get(prop);
  if (typeof definition?.eventNames !== "function") {
    throw new Error(`props.${prop} has no function that names events`);
  }
  const names: unknown = await definition.eventNames.call(self);
  return names === undefined || names === null ? [] : [names].flat().map(String);
}
