import type { DescribedProp } from "../protocol.ts";
import { callAdditionalProps } from "./additional-props.ts";
import { type Component, propsOf } from "./component.ts";

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
