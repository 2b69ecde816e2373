import { newId } from "../../lib/ids.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Component } from "../../models/component.ts";
import { DynamicPropsRows } from "../../models/dynamic-props.ts";
import type { StoredProps } from "../../props/configure.ts";
import { type DynamicProps, inputsOf, withAddedProps } from "../../props/dynamic-props.ts";
import type { CallError, LogLine } from "../../sandbox/protocol.ts";
import { configureFor } from "../configure-for.ts";
import { inTrial, type TrialDeps } from "../trial/build.ts";
import { callAdditionalProps, makingCode } from "./call-additional-props.ts";
import { type FindDeps, findDynamicProps } from "./find-dynamic-props.ts";

export type NextPropsDeps = TrialDeps & FindDeps;

export interface NextPropsRequest {
  /** The props so far, as a source's `configured_props`; required ones may be absent. */
  configuredProps?: unknown;
  /** Id of the props that the last call made, of which `configuredProps` may have values. */
  dynamicPropsId?: string | undefined;
  /** What is stored for a source, which counts where the request leaves something out. */
  stored?: { values: StoredProps; dynamic: DynamicProps | null };
}

export interface NextProps {
  /** What a source is deployed with; null if the code failed, or has no `additionalProps`. */
  dynamic: DynamicProps | null;
  logs: LogLine[];
  /** What the component's code threw. */
  error: CallError | null;
}

/**
 * Calls a component's `additionalProps` with the props so far and stores what it made, under an id that expires if no
 * source is deployed with it. Throws `invalid` that names what is wrong, `rate-limited` and `unavailable`.
 */
export async function nextProps(
  platform: NextPropsDeps,
  ownerId: string,
  component: Component,
  { configuredProps, dynamicPropsId, stored }: NextPropsRequest,
): Promise<NextProps> {
  if (!component.description.hasAdditionalProps) return { dynamic: null, logs: [], error: null };
  const before =
    dynamicPropsId === undefined || dynamicPropsId === stored?.dynamic?.id
      ? (stored?.dynamic ?? null)
      : await findDynamicProps(platform, ownerId, component, dynamicPropsId);
  const own = component.description.props;
  const added = before?.props ?? [];
  const soFar = withAddedProps(own, added);
  const configure = configureFor(component.description);
  const values = configure(soFar, configuredProps, stored?.values, { mayLack: true });
  const code = makingCode(platform, component);
  const { props, logs, error } = await inTrial(ownerId, () =>
    callAdditionalProps(platform, ownerId, code, { values, added }),
  );
  if (error) return { dynamic: null, logs, error };
  const id = newId("dyp", platform.clock());
  const dynamic = { id, props, inputs: inputsOf(withAddedProps(own, props), values) };
  await store(platform, ownerId, component, dynamic);
  return { dynamic, logs, error: null };
}

/** Stores the props, and deletes the account's oldest ones beyond the bound. */
async function store(
  { mongo, secrets, clock }: NextPropsDeps,
  ownerId: string,
  component: Component,
  dynamic: DynamicProps,
): Promise<void> {
  await DynamicPropsRows(mongo).insertMany([
    {
      _id: dynamic.id,
      owner_id: ownerId,
      component_id: component._id,
      sealed: secrets.seal(JSON.stringify(dynamic)),
      expires_at: new Date(clock() + LIMITS.dynamicPropsKept.value),
    },
  ]);
  const [oldest] = await DynamicPropsRows(mongo)
    .find({ owner_id: ownerId }, { _id: 1 })
    .sort({ _id: -1 })
    .skip(LIMITS.dynamicProps.value)
    .limit(1)
    .lean();
  if (oldest) await DynamicPropsRows(mongo).deleteMany({ owner_id: ownerId, _id: { $lte: oldest._id } });
}
