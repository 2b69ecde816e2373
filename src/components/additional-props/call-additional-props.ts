import { checkQuota } from "../../accounts/check-quota.ts";
import { checkConnections } from "../../connections/check.ts";
import { tryConnectProps } from "../../connections/connect-props.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Component } from "../../models/component.ts";
import type { Platform } from "../../platform.ts";
import { propValuesForRun, type StoredProps } from "../../props/configure.ts";
import { withAddedProps } from "../../props/dynamic-props.ts";
import type { Bundle } from "../../sandbox/bundle.ts";
import type {
  CallError,
  CallRequest,
  ComponentDescription,
  DescribedProp,
  LogLine,
} from "../../sandbox/protocol.ts";
import { storedBundle } from "../stored-bundle.ts";
import type { TrialDeps } from "../trial/build.ts";
import { callOnce } from "../trial/call-once.ts";
import { checkAdded } from "./check-added.ts";

/** What `additionalProps` returned: no props if it failed. */
export interface AdditionalProps {
  /** Those that it added to the component's own, and those of its own that it changed. */
  props: DescribedProp[];
  logs: LogLine[];
  /** What the component's code threw. */
  error: CallError | null;
}

/** The props so far: `added` are those of the call before, of which the code also receives values and definitions. */
export interface PropsSoFar {
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
  platform: Pick<Platform, "mongo">,
  { description, bundle_hash }: Pick<Component, "description" | "bundle_hash">,
): MakingCode => ({ description, bundle: storedBundle(platform, bundle_hash) });

/**
 * Calls the `additionalProps` of code with these values, in a sandbox of its own and without any memory, and checks
 * what it returned as a component's own props are checked. It counts as a run. Called in one of the account's trials
 * (`inTrial`). Throws `invalid` that names a prop that can't be used, `rate-limited` and `unavailable`.
 */
export async function callAdditionalProps(
  platform: TrialDeps,
  ownerId: string,
  { description, bundle }: MakingCode,
  { values, added }: PropsSoFar,
): Promise<AdditionalProps> {
  await checkQuota(platform, ownerId);
  const all = withAddedProps(description.props, added);
  await checkConnections(platform, ownerId, all, values);
  const connected = await tryConnectProps(platform, ownerId, { props: all, values });
  if ("error" in connected) return { props: [], logs: [], error: connected.error };
  const { logs, error, emits } = await callOnce(
    platform,
    ownerId,
    bundle,
    additionalPropsCall(description, { values: connected.values, added }, null),
    { wallMs: LIMITS.additionalPropsMs.value, use: { tokens: connected.tokens, by: "a form" } },
  );
  if (error) return { props: [], logs, error };
  // The code may emit on its own; what `additionalProps` returned comes last.
  return { props: checkAdded(description, emits.at(-1)?.event), logs, error: null };
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
