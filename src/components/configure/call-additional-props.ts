import { checkConnections } from "../../connections/check.ts";
import { invalidField, invalidFields } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Component } from "../../models/component.ts";
import type { Calling, Stores } from "../../platform.ts";
import { configureActionProps } from "../../props/action-props.ts";
import { configureProps, propValuesForRun, type StoredProps } from "../../props/configure.ts";
import {
  addedProps,
  changedInput,
  type DynamicProps,
  inputsOf,
  withAddedProps,
} from "../../props/dynamic-props.ts";
import type { Bundle } from "../../sandbox/bundle.ts";
import { checkDescription } from "../../sandbox/check-message.ts";
import {
  type CallError,
  type CallRequest,
  type ComponentDescription,
  type DescribedProp,
  type LogLine,
  withFrame,
} from "../../sandbox/protocol.ts";
import { isAction } from "../code-traits.ts";
import { faultsOfMadeProps } from "../describe.ts";
import { storedBundle } from "../stored-bundle.ts";
import { askCode } from "../trial/build.ts";

/** What `additionalProps` returned: no props if it failed. */
interface AdditionalProps {
  /** Those that it added to the component's own, and those of its own that it changed. */
  props: DescribedProp[];
  logs: LogLine[];
  /** What the component's code threw. */
  error: CallError | null;
}

/** The props so far: `added` are those of the call before, of which the code also receives values and definitions. */
interface PropsSoFar {
  values: StoredProps;
  added: DescribedProp[];
}

/** Code whose `additionalProps` is called. */
export interface MakingCode {
  description: ComponentDescription;
  bundle: Bundle;
}

/** Returns a saved component as code whose `additionalProps` is called. */
export const makingCode = (
  platform: Stores,
  { description, bundle_hash }: Pick<Component, "description" | "bundle_hash">,
): MakingCode => ({ description, bundle: storedBundle(platform, bundle_hash) });

/**
 * Calls the `additionalProps` of code with these values, in a sandbox of its own and without any memory, and checks
 * what it returned as a component's own props are checked. It counts as a run. Called in one of the account's trials
 * (`inTrial`). Throws `invalid` that names a prop that can't be used, `rate-limited` and `unavailable`.
 */
export async function callAdditionalProps(
  platform: Calling,
  ownerId: string,
  { description, bundle }: MakingCode,
  { values, added }: PropsSoFar,
): Promise<AdditionalProps> {
  const props = withAddedProps(description.props, added);
  await checkConnections(platform, ownerId, props, values);
  const { value, logs, error } = await askCode(platform, ownerId, {
    ...{ bundle, props, values },
    requestWith: connected => additionalPropsCall(description, { values: connected, added }, null),
    wallMs: LIMITS.additionalPropsMs.value,
  });
  return { props: error ? [] : checkAdded(description, value), logs, error };
}

/** Returns the call of `additionalProps` with the props so far. */
export function additionalPropsCall(
  { props }: Pick<ComponentDescription, "props">,
  { values, added }: PropsSoFar,
  endpointUrl: string | null,
): CallRequest {
  const bound = propValuesForRun(withAddedProps(props, added), values, { endpointUrl });
  return { call: "additionalProps", event: null, props: bound, added, db: {} };
}

const MAX_BYTES = LIMITS.dynamicPropsBytes.value;

/**
 * Returns those of the props that `additionalProps` described which are not, or not so, the component's own. Throws `invalid`
 * that names what is wrong with them.
 */
export function checkAdded(description: ComponentDescription, described: unknown): DescribedProp[] {
  const { name, version, props: own } = description;
  const checked = checkDescription({ name, version, hooks: [], hasRun: true, props: described });
  const props = addedProps(own, checked.props);
  if (Buffer.byteLength(JSON.stringify(props)) > MAX_BYTES) {
    throw invalidField("component", "additionalProps", `returned more than ${MAX_BYTES / 1024} KB of props`);
  }
  const fields = faultsOfMadeProps(description, withAddedProps(own, props));
  if (fields.length === 0) return props;
  throw invalidFields(fields, "additionalProps returned props that can't be used");
}

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

/** Returns what checks the values of a component's props: those of an action may have templates. */
export const configureFor = (description: Pick<ComponentDescription, "type">): typeof configureProps =>
  isAction(description) ? configureActionProps : configureProps;
