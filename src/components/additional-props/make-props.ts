import { invalidField } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { StoredProps } from "../../props/configure.ts";
import { changedInput, type DynamicProps, inputsOf, withAddedProps } from "../../props/dynamic-props.ts";
import { withFrame } from "../../sandbox/own-frame.ts";
import type { CallError, ComponentDescription, DescribedProp } from "../../sandbox/protocol.ts";
import { configureFor } from "../configure-for.ts";
import type { AdditionalProps, PropsSoFar } from "./call-additional-props.ts";

const MAX_CALLS = LIMITS.additionalPropsCalls.value;

/** Calls the code's `additionalProps` with the props so far. */
type Ask = (soFar: PropsSoFar) => Promise<Pick<AdditionalProps, "props" | "error">>;

interface Given {
  configured: Record<string, unknown>;
  /** Values that are kept from before. */
  stored?: StoredProps | undefined;
}

/**
 * Makes the props of a component that is configured without a form: calls its `additionalProps` with the configured
 * props, and again while it makes props with `reloadProps` that have a value, too. Throws `invalid` with what the code
 * threw, or that names the prop that it lacks, and what `ask` throws.
 */
export async function makeProps(
  description: ComponentDescription,
  { configured, stored }: Given,
  ask: Ask,
): Promise<DynamicProps> {
  const own = description.props;
  const configure = configureFor(description);
  let added: DescribedProp[] = [];
  for (let calls = 0; calls < MAX_CALLS; calls++) {
    const soFar = withAddedProps(own, added);
    const values = configure(soFar, configured, stored, { mayLack: true, mayHaveOthers: true });
    const { props, error } = await ask({ values, added });
    if (error) {
      // A prop that is missing says more than what the code made of that.
      configure(soFar, configured, stored, { mayHaveOthers: true });
      throw failed(error);
    }
    const next = withAddedProps(own, props);
    const made = { id: newId("dyp"), props, inputs: inputsOf(next, values) };
    const complete = configure(next, configured, stored, { mayLack: true, mayHaveOthers: true });
    if (changedInput(own, made, complete) === null) return made;
    added = props;
  }
  throw invalidField("component", "additionalProps", `makes other props at each of ${MAX_CALLS} calls`);
}

function failed({ code, message, stack }: CallError) {
  return invalidField("component", "additionalProps", `${code}: ${withFrame(message, stack)}`);
}
