import { checkQuota } from "../accounts/check-quota.ts";
import { tryConnectProps } from "../connections/connect-props.ts";
import { invalidField } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Component } from "../models/component.ts";
import { propValuesForRun, type StoredProps } from "../props/configure.ts";
import { withFrame } from "../sandbox/own-frame.ts";
import type { DescribedProp } from "../sandbox/protocol.ts";
import { storedBundle } from "./stored-bundle.ts";
import { inTrial, type TrialDeps } from "./trial/build.ts";
import { callOnce } from "./trial/call-once.ts";

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
    await checkQuota(platform, ownerId);
    const connected = await tryConnectProps(platform, ownerId, { props, values });
    if ("error" in connected) throw failed(connected.error.message);
    const bound = propValuesForRun(props, connected.values, { endpointUrl: null });
    const { error, emits } = await callOnce(
      platform,
      ownerId,
      storedBundle(platform, component.bundle_hash),
      { call: "eventNames", event: prop, props: bound, added, db: {} },
      { wallMs: LIMITS.eventNamesMs.value, use: { tokens: connected.tokens, by: component._id } },
    );
    if (error) throw failed(`${error.code}: ${withFrame(error.message, error.stack)}`);
    // The code may emit on its own; what `eventNames` returned comes last.
    const names = emits.at(-1)?.event;
    if (isListOfNames(names)) return names;
    throw failed(`must return at most ${LIMITS.eventNames.value} names of ${MAX_NAME} characters`);
  });
}

const MAX_NAME = LIMITS.eventNameChars.value;

const isListOfNames = (names: unknown): names is string[] =>
  Array.isArray(names) &&
  names.length <= LIMITS.eventNames.value &&
  names.every(name => typeof name === "string" && name.length <= MAX_NAME);
