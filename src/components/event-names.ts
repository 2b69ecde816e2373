import { invalidField } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Component } from "../models/component.ts";
import { propValuesForRun, type StoredProps } from "../props/configure.ts";
import { withFrame } from "../sandbox/own-frame.ts";
import type { DescribedProp } from "../sandbox/protocol.ts";
import { storedBundle } from "./stored-bundle.ts";
import { askCode } from "./trial/ask-code.ts";
import { inTrial, type TrialDeps } from "./trial/build.ts";

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
  platform: TrialDeps,
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
