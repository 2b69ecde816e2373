import { checkConnections } from "../../connections/check.ts";
import { invalidField } from "../../lib/errors.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Component } from "../../models/component.ts";
import type { Calling } from "../../platform.ts";
import { propValuesForRun, type StoredProps } from "../../props/configure.ts";
import { withAddedProps } from "../../props/dynamic-props.ts";
import { type CallError, type DescribedProp, type LogLine, withFrame } from "../../sandbox/protocol.ts";
import { storedBundle } from "../stored-bundle.ts";
import { askCode, inTrial } from "../trial/build.ts";
import { configureFor } from "./call-additional-props.ts";

export interface OptionsRequest {
  /** Name of the prop whose choices are wanted. */
  prop: string;
  /** The props so far, as a source's `configured_props`; required ones may be absent. */
  configuredProps?: unknown;
  /** Values that are stored for a source, which count where `configuredProps` leaves one out. */
  stored?: StoredProps;
  /** The props that `additionalProps` made, if the form has got some. */
  added?: DescribedProp[] | undefined;
  /** From 0. */
  page: number;
  /** What the call for the page before returned as `context`. */
  prevContext: unknown;
  /** What a person has typed. */
  query: string;
}

export interface Options {
  options: { label: string; value: unknown }[];
  /** For the next page. */
  context: unknown;
  logs: LogLine[];
  /** What the component's code threw. */
  error: CallError | null;
}

/**
 * Calls the function of a component that lists the choices of a prop (docs/component-api.md#props), in a sandbox of its
 * own and without any memory. It counts as a run of the account. Throws `invalid` that names the prop or a prop so far
 * that is wrong, `rate-limited` and `unavailable`.
 */
export async function askOptions(
  platform: Calling,
  ownerId: string,
  component: Component,
  request: OptionsRequest,
): Promise<Options> {
  const added = request.added ?? [];
  const props = withAddedProps(component.description.props, added);
  const prop = props.find(({ name }) => name === request.prop);
  if (!prop) throw invalidField("body", "prop_name", "the component has no such prop");
  if (prop.options) {
    return { options: readOptions(prop.options), context: null, logs: [], error: null };
  }
  if (!prop.remoteOptions) throw invalidField("body", "prop_name", "the prop has no options");
  const values = configureFor(component.description)(props, request.configuredProps, request.stored, {
    mayLack: true,
  });
  await checkConnections(platform, ownerId, props, values);
  const { page, prevContext, query } = request;
  const event = { prop: prop.name, page, prevContext, query };
  const { value, logs, error } = await inTrial(ownerId, () =>
    askCode(platform, ownerId, {
      ...{ bundle: storedBundle(platform, component.bundle_hash), props, values },
      requestWith: connected => {
        const bound = propValuesForRun(props, connected, { endpointUrl: null });
        return { call: "options", event, props: bound, added: request.added, db: {} };
      },
      wallMs: LIMITS.optionsMs.value,
    }),
  );
  const listed = (value ?? {}) as { options?: unknown; context?: unknown };
  return { options: readOptions(listed.options), context: listed.context ?? null, logs, error };
}

/** Returns the choices of a list in any of the shapes that components use, those that can't be shown left out. */
function readOptions(listed: unknown): { label: string; value: unknown }[] {
  if (!Array.isArray(listed)) return [];
  return listed.slice(0, LIMITS.optionsListed.value).flatMap(option => {
    const isPair = typeof option === "object" && option !== null && "value" in option;
    const { label, value } = isPair ? (option as { label?: unknown; value: unknown }) : { value: option };
    return value === undefined || value === null ? [] : [{ label: textOf(label ?? value), value }];
  });
}

const textOf = (value: unknown): string =>
  typeof value === "object" ? JSON.stringify(value) : String(value);

interface EventNamesRequest {
  /** Name of the apphook prop. */
  prop: string;
  /** The component's own props, with those that were made. */
  props: DescribedProp[];
  values: StoredProps;
  /** The props that `additionalProps` made. */
  added: DescribedProp[] | undefined;
}

/**
 * Calls the function `eventNames` of an apphook prop, in a sandbox of its own and without any memory, and returns the names
 * of the events. It counts as a run. Throws `invalid` with what the code threw, or if it returned something else,
 * `rate-limited` and `unavailable`.
 */
export function askEventNames(
  platform: Calling,
  ownerId: string,
  component: Component,
  { prop, props, values, added }: EventNamesRequest,
): Promise<string[]> {
  const failed = (message: string) => invalidField("component", `props.${prop}.eventNames`, message);
  return inTrial(ownerId, async () => {
    const { value: names, error } = await askCode(platform, ownerId, {
      ...{ bundle: storedBundle(platform, component.bundle_hash), props, values },
      requestWith: connected => {
        const bound = propValuesForRun(props, connected, { endpointUrl: null });
        return { call: "eventNames", event: prop, props: bound, added, db: {} };
      },
      wallMs: LIMITS.eventNamesMs.value,
    });
    if (error) throw failed(`${error.code}: ${withFrame(error.message, error.stack)}`);
    if (isListOfNames(names)) return names;
    throw failed(`must return at most ${LIMITS.eventNames.value} names of ${MAX_NAME} characters`);
  });
}

const MAX_NAME = LIMITS.eventNameChars.value;

const isListOfNames = (names: unknown): names is string[] =>
  Array.isArray(names) &&
  names.length <= LIMITS.eventNames.value &&
  names.every(name => typeof name === "string" && name.length <= MAX_NAME);
