import type { DescribedProp } from "../protocol.ts";
import {
  type Component,
  InvalidComponentError,
  objectOf,
  type PropDefinition,
  propsOf,
} from "./component.ts";
import { describeProp } from "./describe.ts";

/**
 * Calls `additionalProps` with the definitions so far, and returns what it returned: definitions by name, not resolved yet.
 * Those so far are copies, which the code may change in place; `sofar` has them afterwards. Throws what the code throws.
 */
export async function callAdditionalProps(
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
