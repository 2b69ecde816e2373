import { checkQuota } from "../../accounts/check-quota.ts";
import { checkConnections } from "../../connections/check.ts";
import { tryConnectProps } from "../../connections/connect-props.ts";
import { AppError, invalidField } from "../../lib/errors.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Component } from "../../models/component.ts";
import { propValuesForRun, type StoredProps } from "../../props/configure.ts";
import { addedProps, withAddedProps } from "../../props/dynamic-props.ts";
import { checkDescription } from "../../sandbox/check-description.ts";
import type { CallError, DescribedProp, LogLine } from "../../sandbox/protocol.ts";
import { faultsOfProps } from "../describe.ts";
import { readBundle } from "../read-bundle.ts";
import { inTrial, type TrialDeps } from "../trial/build.ts";
import { callOnce } from "../trial/call-once.ts";

/** What `additionalProps` returned: no props if it failed. */
export interface AdditionalProps {
  /** Those that it added to the component's own, and those of its own that it changed. */
  props: DescribedProp[];
  logs: LogLine[];
  /** What the component's code threw. */
  error: CallError | null;
}

/**
 * Calls the component's `additionalProps` with these values, in a sandbox of its own and without any memory, and checks
 * what it returned as a component's own props are checked. `added` are the props of the call before, of which it also
 * receives values and definitions. It counts as a run. Throws `invalid` that names a prop that can't be used,
 * `rate-limited` and `unavailable`.
 */
export function callAdditionalProps(
  platform: TrialDeps,
  ownerId: string,
  component: Component,
  { values, added }: { values: StoredProps; added: DescribedProp[] },
): Promise<AdditionalProps> {
  return inTrial(ownerId, async () => {
    await checkQuota(platform, ownerId);
    const all = withAddedProps(component.description.props, added);
    await checkConnections(platform, ownerId, all, values);
    const connected = await tryConnectProps(platform, ownerId, { props: all, values });
    if ("error" in connected) return { props: [], logs: [], error: connected.error };
    const props = propValuesForRun(all, connected.values, { endpointUrl: null });
    const result = await callOnce(
      platform,
      ownerId,
      await readBundle(platform, component),
      { call: "additionalProps", event: null, props, added, db: {} },
      { wallMs: LIMITS.additionalPropsMs.value },
    );
    const { logs, error } = result;
    if (error) return { props: [], logs, error };
    // The code may emit on its own; what `additionalProps` returned comes last.
    return { props: checkAdded(component, result.emits.at(-1)?.event), logs, error: null };
  });
}

const MAX_BYTES = LIMITS.dynamicPropsBytes.value;

/** Returns the props that are not the component's own. Throws `invalid` that names what is wrong with them. */
function checkAdded({ description }: Component, described: unknown): DescribedProp[] {
  const own = description.props;
  const checked = checkDescription({ ...description, props: described });
  const props = addedProps(own, checked.props);
  if (Buffer.byteLength(JSON.stringify(props)) > MAX_BYTES) {
    throw invalidField("component", "additionalProps", `returned more than ${MAX_BYTES / 1024} KB of props`);
  }
  const fields = faultsOfProps(withAddedProps(own, props));
  if (fields.length === 0) return props;
  const detail = fields.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new AppError("invalid", `additionalProps returned props that can't be used: ${detail}`, { fields });
}
