import { invalidField } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Component } from "../../models/component.ts";
import { configureProps, type StoredProps } from "../../props/configure.ts";
import { changedInput, type DynamicProps, inputsOf, withAddedProps } from "../../props/dynamic-props.ts";
import { withFrame } from "../../sandbox/own-frame.ts";
import type { CallError, DescribedProp } from "../../sandbox/protocol.ts";
import type { TrialDeps } from "../trial/build.ts";
import { callAdditionalProps } from "./call-additional-props.ts";

const MAX_CALLS = LIMITS.additionalPropsCalls.value;

/**
 * Makes the props of a source that is deployed without a form: calls the component's `additionalProps` with the configured
 * props, and again while it makes props with `reloadProps` that have a value, too. Throws `invalid` with what the code
 * threw, or that names the prop that it lacks, `rate-limited` and `unavailable`.
 */
export async function makeProps(
  platform: TrialDeps,
  ownerId: string,
  component: Component,
  { configured, stored }: { configured: Record<string, unknown>; stored: StoredProps | undefined },
): Promise<DynamicProps> {
  const own = component.description.props;
  let added: DescribedProp[] = [];
  for (let calls = 0; calls < MAX_CALLS; calls++) {
    const soFar = withAddedProps(own, added);
    const values = configureProps(soFar, configured, stored, { mayLack: true, mayHaveOthers: true });
    const { props, error } = await callAdditionalProps(platform, ownerId, component, { values, added });
    if (error) {
      // A prop that is missing says more than what the code made of that.
      configureProps(soFar, configured, stored, { mayHaveOthers: true });
      throw failed(error);
    }
    const next = withAddedProps(own, props);
    const made = { id: newId("dyp", platform.clock()), props, inputs: inputsOf(next, values) };
    const complete = configureProps(next, configured, stored, { mayLack: true, mayHaveOthers: true });
    if (changedInput(own, made, complete) === null) return made;
    added = props;
  }
  throw invalidField("component", "additionalProps", `makes other props at each of ${MAX_CALLS} calls`);
}

function failed({ code, message, stack }: CallError) {
  return invalidField("component", "additionalProps", `${code}: ${withFrame(message, stack)}`);
}
