import type { DescribedProp } from "../protocol.ts";
import { callAdditionalProps } from "./additional-props.ts";
import { type Component, objectOf, unwrapNamespace } from "./component.ts";

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
