import { type AppError, invalidField } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { type Component, DynamicPropsRows } from "../../models/component.ts";
import type { Calling, Stores } from "../../platform.ts";
import type { StoredProps } from "../../props/configure.ts";
import { changedInput, type DynamicProps, inputsOf, withAddedProps } from "../../props/dynamic-props.ts";
import type { CallError, LogLine } from "../../sandbox/protocol.ts";
import { inTrial } from "../trial/build.ts";
import { callAdditionalProps, configureFor, makeProps, makingCode } from "./call-additional-props.ts";

/** The error of a `dynamic_props_id` that can't be used. */
const invalidDynamicProps = (message: string): AppError => invalidField("body", "dynamic_props_id", message);

/**
 * Returns the props that the account's form got under this id. Throws `invalid` that names `dynamic_props_id` if there are
 * none, or they are those of another component.
 */
export async function findDynamicProps(
  { mongo, secrets, clock }: Stores,
  ownerId: string,
  component: Component,
  id: string,
): Promise<DynamicProps> {
  const row = await DynamicPropsRows(mongo).findOne({ _id: id, owner_id: ownerId }).lean();
  // MongoDB deletes what has expired once a minute.
  if (!row || row.expires_at.getTime() <= clock()) {
    throw invalidDynamicProps("there are no such props, or they have expired; ask for the props again");
  }
  if (row.component_id !== component._id) {
    throw invalidDynamicProps("belongs to another component; ask for the props of this one");
  }
  return JSON.parse(secrets.open(row.sealed));
}

/** What a request configures, and what the source or action has so far. */
interface Choice {
  /** `dynamic_props_id` of the request. */
  id: string | undefined;
  configured: Record<string, unknown>;
  /** Values that are kept; undefined for a new one. */
  stored: StoredProps | undefined;
  /** The props that were made for it, if it keeps its component. */
  current: DynamicProps | null;
}

/**
 * Returns the dynamic props of a source or an action that is deployed or updated: those of the request's `dynamic_props_id`,
 * else its own while they hold, else what the component's `additionalProps` makes of the configured props; null if it has
 * none. Throws `invalid` that names the field, and as `makeProps` does.
 */
export async function chooseDynamicProps(
  platform: Calling,
  ownerId: string,
  component: Component,
  { id, configured, stored, current }: Choice,
): Promise<DynamicProps | null> {
  if (!component.description.hasAdditionalProps) {
    if (id === undefined) return null;
    throw invalidDynamicProps("the component has no additionalProps");
  }
  const changed = (dynamic: DynamicProps): string | null => {
    const props = withAddedProps(component.description.props, dynamic.props);
    const values = configureFor(component.description)(props, configured, stored, {
      mayLack: true,
      mayHaveOthers: true,
    });
    return changedInput(component.description.props, dynamic, values);
  };
  if (id !== undefined) {
    const chosen = id === current?.id ? current : await findDynamicProps(platform, ownerId, component, id);
    const name = changed(chosen);
    if (name === null) return chosen;
    throw invalidDynamicProps(`was made for another value of ${name}; ask for the props again`);
  }
  if (current && changed(current) === null) return current;
  const code = makingCode(platform, component);
  return await inTrial(ownerId, () =>
    makeProps(code.description, { configured, stored }, soFar =>
      callAdditionalProps(platform, ownerId, code, soFar),
    ),
  );
}

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
  platform: Calling,
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
  { mongo, secrets, clock }: Calling,
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
